#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that one section of a source does not compile, and that the message says why.

A file under tests/compile_failure holds sections `#if CASE_1 ... #endif` and, for each, a line
`// expect CASE_1: REGEX`. Case `control` is the file without any section: it must compile.
"""

import argparse
import pathlib
import re
import subprocess
import sys


def expected_message(source: pathlib.Path, case: str) -> str:
    for line in source.read_text().splitlines():
        match = re.match(rf"// expect {case}: *(.+)", line)
        if match:
            return match.group(1)
    sys.exit(f"{source}: no line '// expect {case}: REGEX'")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("case")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()

    command = [arguments.compiler, "-std=c++20", "-fsyntax-only"]
    command += [f"-I{folder}" for folder in arguments.include]
    if arguments.case != "control":
        command.append(f"-D{arguments.case}=1")
    result = subprocess.run([*command, str(arguments.source)], capture_output=True, text=True)
    output = result.stdout + result.stderr

    if arguments.case == "control":
        if result.returncode == 0:
            return 0
        print(f"{arguments.source}: must compile without any case, but:\n{output}")
        return 1
    pattern = expected_message(arguments.source, arguments.case)
    if result.returncode == 0:
        print(f"{arguments.source}: {arguments.case} compiles; expected a failure matching: {pattern}")
        return 1
    if not re.search(pattern, output):
        print(f"{arguments.source}: {arguments.case} fails, but nothing matches: {pattern}\n{output}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
