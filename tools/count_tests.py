#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints `N passed, N failed, N skipped`, summed over the JUnit files that ctest wrote.

A file that is missing or unreadable counts as one failure: a run that died is not a run that passed.
"""

import sys
import xml.etree.ElementTree as ElementTree


def counts(path: str) -> tuple[int, int, int]:
    try:
        cases = ElementTree.parse(path).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 0, 1, 0
    passed = sum(case.get("status") == "run" for case in cases)
    failed = sum(case.get("status") == "fail" for case in cases)
    return passed, failed, len(cases) - passed - failed


def main() -> int:
    passed, failed, skipped = (sum(column) for column in zip(*map(counts, sys.argv[1:])))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
