#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts in this folder and in bench/: a check that cannot fail checks nothing."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "bench")]
import count_tests  # noqa: E402
import debian_graph  # noqa: E402
import instruction_counts  # noqa: E402
import scaling  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"
TABLE = """
| # | room | holds | third party | must never |
|---|---|---|---|---|
| 1 | engine/model | words | std | know ranks |
| 2 | engine/runtime | ranks | MPI, TBB | know vertices |
| 3 | io | files | zlib; librdkafka (optional) | know graphs |
| 4 | cli, tests | programs | GoogleTest | be included |
"""


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/architecture.md", TABLE)
        self.write("engine/model/ids.hpp", HEADER)
        self.write("engine/runtime/port.hpp", HEADER + "#include <weir/engine/model/ids.hpp>\n#include <tbb/a.h>\n")
        self.write("engine/runtime/mpi/mpi_comm.hpp", HEADER + "#include <mpi.h>\n")
        self.write("io/lines.hpp", HEADER + "#include <weir/engine/runtime/port.hpp>\n#include <zlib.h>\n")
        self.write("cli/main.cpp", SPDX + "#include <weir/engine/runtime/mpi/mpi_comm.hpp>\n#include <vector>\n")
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def check(self):
        (self.root / "tools").mkdir(exist_ok=True)
        script = self.root / "tools" / "check_layers.py"
        script.write_text((TOOLS / "check_layers.py").read_text())
        result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
        return result.returncode, result.stdout

    def refuses(self, path, text, message):
        self.write(path, text)
        code, output = self.check()
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_accepts_what_keeps_to_its_room(self):
        code, output = self.check()
        self.assertEqual(code, 0, output)

    def test_refuses_a_room_below(self):
        self.refuses("engine/model/x.hpp", HEADER + "#include <weir/io/lines.hpp>\n", "engine/model/x.hpp:3:")

    def test_refuses_mpi_outside_the_transport(self):
        self.refuses("engine/runtime/x.cpp", SPDX + "#include <mpi.h>\n", "engine/runtime/x.cpp:2:")
        self.refuses("engine/runtime/mpi/x.hpp", HEADER + "#include <mpi.h>\n", "engine/runtime/mpi/x.hpp:3:")

    def test_refuses_the_transport_in_the_library(self):
        text = SPDX + "#include <weir/engine/runtime/mpi/mpi_comm.hpp>\n"
        self.refuses("engine/runtime/x.cpp", text, "which libweir is built without")

    def test_refuses_a_library_that_is_another_rooms(self):
        self.refuses("io/x.cpp", SPDX + "#include <tbb/a.h>\n", "TBB is not for io")
        self.refuses("engine/model/x.cpp", SPDX + "#include <thing/a.h>\n", "belongs to no library")

    def test_refuses_names_that_say_nothing(self):
        self.refuses("io/line_utils.hpp", HEADER, "does not say what is inside")

    def test_refuses_quotes_missing_files_and_missing_guards(self):
        self.refuses("io/a.cpp", SPDX + '#include "lines.hpp"\n', "expected <weir/...>")
        self.refuses("io/b.cpp", SPDX + "#include <weir/io/none.hpp>\n", "does not exist")
        self.refuses("io/c.hpp", SPDX, "no #pragma once")
        self.refuses("gpu/d.cpp", SPDX, "in no room")


class CountTests(unittest.TestCase):
    def test_counts_each_status_and_a_missing_file_as_failed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(
                '<testsuite><testcase status="run"/><testcase status="run"/>'
                '<testcase status="fail"/><testcase status="notrun"/></testsuite>'
            )
            file.flush()
            self.assertEqual(count_tests.counts(file.name), (2, 1, 1))
        self.assertEqual(count_tests.counts("/nonexistent/tests.xml"), (0, 1, 0))


class InstructionCounts(unittest.TestCase):
    def test_refuses_growth_that_the_commit_does_not_state(self):
        before = {"bfs": 1000, "wcc": 1000}
        table, refused = instruction_counts.compare(before, before, {"bfs": 1100, "wcc": 1101})
        self.assertEqual(refused, ["wcc: 10.1 % more than its commit states"])
        self.assertIn("+10.00 %", table)

    def test_shows_stated_growth_and_lets_it_pass(self):
        table, refused = instruction_counts.compare({"bfs": 1000}, {"bfs": 2000}, {"bfs": 2000})
        self.assertEqual(refused, [])
        self.assertIn("+100.00 %", table)

    def test_refuses_jobs_that_the_file_does_not_know(self):
        self.assertEqual(instruction_counts.compare({}, {}, {"bfs": 1})[1], ["bfs: not in the file"])

    def test_every_job_has_its_count(self):
        counts = json.loads(instruction_counts.COUNTS.read_text())["counts"]
        self.assertEqual(set(counts), set(instruction_counts.JOBS))


class Scaling(unittest.TestCase):
    def test_a_value_travels_once_to_each_rank_that_reads_it(self):
        # One neighbour on two ranks: elsewhere half of the time. Very many: on every other rank.
        self.assertAlmostEqual(scaling.even_bytes({1: 1}, 2), 8 * 0.5 / 2)
        self.assertAlmostEqual(scaling.even_bytes({10**6: 4}, 4), 8 * 4 * 3 / 4)
        self.assertEqual(scaling.even_bytes({3: 7}, 1), 0)

    def test_laws_go_through_their_two_points(self):
        law = scaling.Law({2: 30.0, 4: 18.0}, lambda ranks: 60 / ranks)
        self.assertAlmostEqual(law(2), 30)
        self.assertAlmostEqual(law(4), 18)
        self.assertAlmostEqual(law(8), 7.5 * 1.2**2)


class DebianGraph(unittest.TestCase):
    def test_splits_relations_into_names(self):
        relation = "libc6 (>= 2.34), perl:any | perl5, g++ [amd64] <!nocheck>, ,"
        self.assertEqual(list(debian_graph.targets(relation)), ["libc6", "perl", "perl5", "g++"])

    def test_joins_continued_fields(self):
        text = "Package: a\nDepends: b,\n c\nDescription: x\n Depends: no\n\nPackage: d\n"
        found = list(debian_graph.records(text))
        self.assertEqual(found, [{"Package": "a", "Depends": "b, c"}, {"Package": "d"}])


if __name__ == "__main__":
    unittest.main()
