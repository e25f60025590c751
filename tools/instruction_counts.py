#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of ten small jobs and compares them with the counts kept in the repository.

    tools/instruction_counts.py            compare with bench/instruction_counts.json; exit 1 where a job grew by
                                           more than 10 %
    tools/instruction_counts.py --update   write the counts of this build to that file

Unlike times, instruction counts are the same in every run, so that a gate on any machine sees what a change costs. A
commit whose counts grow by more than 10 % states so by bringing the file along, written by --update: the file says
what its commit is expected to need, and the difference stands in the commit for all to read.

Jobs run on one thread under valgrind. The count of `weir --version` (loading libraries) is subtracted. The C library
is told to choose the same variants of memcpy and its like on every processor. With another compiler, C library,
valgrind or architecture than the file was made with, counts differ for reasons that are not ours: then the table is
printed and nothing fails.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = ROOT / "bench" / "instruction_counts.json"
MOST_GROWTH = 0.10

# Enough trials that the kernel outweighs the loading of its graph.
JOBS = {
    "pagerank": "bench pagerank rmat:scale=11 --undirected --trials 4",
    "bfs-rmat": "bench bfs rmat:scale=12 --undirected --trials 64",
    "bfs-grid": "bench bfs grid:64x64 --trials 32",
    "sssp-grid": "bench sssp grid:64x64,weights=255 --weighted --trials 32",
    "wcc": "bench wcc rmat:scale=12 --undirected --trials 64",
    "cdlp": "bench cdlp rmat:scale=10 --undirected --trials 16",
    "triangles": "bench triangles rmat:scale=10 --undirected --trials 32",
    "kcore": "bench kcore rmat:scale=10 --undirected --trials 32",
    "load": "info edges.el --undirected",
    "convert": "convert edges.el edges.csv",
}
EDGES = "generate rmat:scale=13,edge_factor=16,seed=7 edges.el"

# Variants of string functions, and the sizes at which they switch, otherwise follow the processor.
PINNED = ":".join(
    (
        "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX,-AVX512F,-AVX512VL,-AVX512BW,-EVEX,-ERMS,-FSRM,-RTM",
        "glibc.cpu.x86_data_cache_size=32768",
        "glibc.cpu.x86_shared_cache_size=1048576",
        "glibc.cpu.x86_non_temporal_threshold=786432",
    )
)


def output_of(*command: str, **options) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout + result.stderr


def count_instructions(weir: str, arguments: str, folder: str) -> int:
    text = output_of(
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", weir, *arguments.split(),
        cwd=folder, env={**os.environ, "GLIBC_TUNABLES": PINNED},
    )  # fmt: skip
    return int(re.findall(r"Collected : (\d+)", text)[-1])


def measure(weir: str) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        output_of(weir, *EDGES.split(), "--quiet", cwd=folder)
        start = count_instructions(weir, "--version", folder)
        return {
            name: count_instructions(weir, f"{line} --threads 1 --quiet", folder) - start
            for name, line in JOBS.items()
        }


def environment(weir: str) -> dict[str, str]:
    compiler = re.search(r"^compiler\s+(.*)$", output_of(weir, "--version"), re.MULTILINE)
    return {
        "compiler": compiler.group(1) if compiler else "unknown",
        "libc": " ".join(platform.libc_ver()),
        "valgrind": output_of("valgrind", "--version").strip(),
        "architecture": platform.machine(),
    }


def counts_before(declared: dict) -> dict[str, int]:
    """The counts of the last commit whose file was another than the one here; those here if git knows none."""
    name = COUNTS.relative_to(ROOT).as_posix()
    for commit in ("HEAD", "HEAD~1"):
        shown = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=ROOT, capture_output=True, text=True)
        if shown.returncode == 0 and json.loads(shown.stdout) != declared:
            return json.loads(shown.stdout)["counts"]
    return declared["counts"]


def compare(before: dict[str, int], declared: dict[str, int], now: dict[str, int]) -> tuple[str, list[str]]:
    """A table, and what is to be refused: jobs that need more than 10 % more than their commit states, and jobs
    that it does not state."""
    lines = [f"{'job':<12}{'before':>14}{'now':>14}{'change':>10}"]
    refused = []
    for name, count in now.items():
        old = before.get(name)
        change = f"{100 * (count / old - 1):+.2f} %" if old else "new"
        lines.append(f"{name:<12}{old or 0:>14,}{count:>14,}{change:>10}")
        if name not in declared:
            refused.append(f"{name}: not in the file")
        elif count > declared[name] * (1 + MOST_GROWTH):
            refused.append(f"{name}: {100 * (count / declared[name] - 1):.1f} % more than its commit states")
    return "\n".join(lines), refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the counts of this build to the file")
    parser.add_argument("--weir", default=str(ROOT / "build/release/weir"), help="the command (default: release build)")
    options = parser.parse_args()
    weir = str(pathlib.Path(options.weir).resolve())

    found = environment(weir)
    now = measure(weir)
    declared = json.loads(COUNTS.read_text()) if COUNTS.exists() else {"environment": found, "counts": {}}
    if options.update:
        COUNTS.write_text(json.dumps({"environment": found, "counts": now}, indent=2) + "\n")
        print(compare(declared["counts"], now, now)[0])
        return 0
    table, refused = compare(counts_before(declared), declared["counts"], now)
    print(table)
    if found != declared["environment"]:
        print(f"the counts kept are of {declared['environment']}, these of {found}: nothing is refused")
        return 0
    for line in refused:
        print(line)
    if refused:
        print("if it has to be so: tools/instruction_counts.py --update, and the file into the same commit")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
