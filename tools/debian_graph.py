#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the dependency graph of this machine's available Debian packages as PREFIX.v and PREFIX.e.

PREFIX.v has one name a line, PREFIX.e lines `PACKAGE TARGET`, both sorted bytewise: an edge for every package
in Depends and Pre-Depends, each alternative included, without version constraints and architecture
qualifiers. Names that only occur as a target (virtual packages) are vertices as well. The packages are those
of `apt-cache dumpavail`; without package lists, those of the status file of dpkg.
"""

import re
import subprocess
import sys

STATUS_FILE = "/var/lib/dpkg/status"
FIELDS = ("Package", "Depends", "Pre-Depends")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*")


def control_text() -> tuple[str, str]:
    """The control records and where they come from."""
    try:
        listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=False)
        # Without lists apt-cache knows the installed packages alone; the status file says so plainly.
        if listed.returncode == 0 and listed.stdout.count("\nPackage:") > 1000:
            return listed.stdout, "apt-cache dumpavail"
    except OSError:
        pass
    with open(STATUS_FILE, encoding="utf-8", errors="replace") as file:
        return file.read(), STATUS_FILE


def records(text: str):
    """Yields one dictionary of the fields in FIELDS per record; continuation lines are joined."""
    record, field = {}, None
    for line in text.splitlines():
        if not line.strip():
            if record:
                yield record
            record, field = {}, None
        elif line[0] in " \t":
            if field:
                record[field] += " " + line.strip()
        else:
            name, _, value = line.partition(":")
            field = name if name in FIELDS else None
            if field:
                record[field] = value.strip()
    if record:
        yield record


def targets(relation: str):
    """Yields the package names of a relation such as `libc6 (>= 2.34), perl:any | perl5`."""
    for alternative in re.split(r"[,|]", relation):
        match = NAME.match(alternative.strip())
        if match:
            yield match.group()


def main() -> int:
    if len(sys.argv) != 2:
        print(f"usage: {sys.argv[0]} PREFIX", file=sys.stderr)
        return 2
    prefix = sys.argv[1]
    try:
        text, origin = control_text()
    except OSError as error:
        print(f"no package lists here: {error}", file=sys.stderr)
        return 1

    vertices, edges = set(), set()
    for record in records(text):
        package = record.get("Package")
        if not package:
            continue
        vertices.add(package)
        for field in ("Depends", "Pre-Depends"):
            edges.update((package, target) for target in targets(record.get(field, "")))
    vertices.update(target for _, target in edges)

    with open(prefix + ".v", "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in sorted(vertices))
    with open(prefix + ".e", "w", encoding="utf-8") as file:
        file.writelines(f"{package} {target}\n" for package, target in sorted(edges))
    print(f"{origin}: {len(vertices)} packages, {len(edges)} dependencies", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
