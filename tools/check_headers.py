#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header compiles as the only include of a source: that it includes what it uses.

usage: check_headers.py BUILD_FOLDER [HEADER...]     all headers of the rooms unless some are named
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("engine", "io", "algorithms", "cli")


def compile_flags(build: pathlib.Path) -> list[str]:
    """The -I, -isystem, -D and -W flags of all of weir's sources together, and the compiler before them."""
    flags: list[str] = []
    compiler = "c++"
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
        compiler = words[0]
        for word, following in zip(words, words[1:] + [""]):
            if word.startswith(("-I", "-D", "-W")) and word not in flags:
                flags.append(word)
            if word == "-isystem" and following not in flags:
                flags += [word, following]
    return [compiler, "-std=c++20", "-fsyntax-only", *flags]


def problem_of(header: str, command: list[str]) -> str:
    """What the compiler says about a source that includes the header twice; empty if nothing."""
    source = f"#include <weir/{header}>\n" * 2
    result = subprocess.run([*command, "-x", "c++", "-"], input=source, capture_output=True, text=True)
    return result.stderr if result.returncode else ""


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    headers = sys.argv[2:]
    if not headers:
        listing = subprocess.run(
            ["git", "ls-files", "--", *(f"{room}/*.hpp" for room in ROOMS)],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )
        headers = listing.stdout.split()
    command = compile_flags(pathlib.Path(sys.argv[1]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(lambda header: problem_of(header, command), headers) if text]
    print("\n".join(problems) if problems else f"{len(headers)} headers stand alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
