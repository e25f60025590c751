#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file keeps to its room.

The rooms are the table in docs/architecture.md, top to bottom: a file may include its own room and rooms in
rows above it, and only the third-party libraries that its row names. Also checked: engine/runtime/mpi (the MPI
transport, a library of its own) is used by the last row alone, and is alone in including <mpi.h>; includes
read <weir/...> and name a file that exists; headers have #pragma once; names say what is inside; open work
is not noted in sources.

With --missing-tests, lists the headers without a test at the mirrored path, and checks nothing.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "architecture.md"
SOURCE_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}
TRANSPORT = "engine/runtime/mpi"
MPI_HEADER = "engine/runtime/mpi/mpi_comm.hpp"  # the one header in which users meet MPI_Comm
BANNED_WORDS = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "base", "impl"}
OPEN_WORK = re.compile(r"\b(TODO|FIXME|XXX)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# How the third-party column of the table spells a library, and what its headers begin with.
LIBRARIES = {
    "MPI": ("mpi.h", "mpi-ext.h"),
    "TBB": ("tbb/", "oneapi/"),
    "Boost.Serialization": ("boost/",),
    "hwloc": ("hwloc.h", "hwloc/"),
    "zstd": ("zstd.h", "zstd_errors.h"),
    "zlib": ("zlib.h",),
    "fmt": ("fmt/",),
    "librdkafka": ("librdkafka/",),
    "xxhash": ("xxhash.h",),
    "OpenSSL": ("openssl/",),
    "pugixml": ("pugixml.hpp",),
    "yaml-cpp": ("yaml-cpp/",),
    "Scotch": ("scotch.h", "scotch/"),
    "BLAS": ("cblas.h", "openblas/"),
    "CUDA": ("cuda", "nvtx3/", "cooperative_groups"),
    "Thrust/CUB": ("thrust/", "cub/"),
    "NCCL": ("nccl.h",),
    "CLI11": ("CLI/",),
    "nlohmann-json": ("nlohmann/",),
    "GoogleTest": ("gtest/", "gmock/"),
    "Google Benchmark": ("benchmark/",),
}
# The C library and the kernel belong to every room.
SYSTEM = re.compile(
    r"^(sys/.+|netinet/.+|arpa/.+|linux/.+|.*intrin\.h|cxxabi\.h|dirent\.h|dlfcn\.h|execinfo\.h|fcntl\.h|"
    r"netdb\.h|poll\.h|pthread\.h|sched\.h|signal\.h|spawn\.h|termios\.h|time\.h|unistd\.h)$"
)


class Room:
    def __init__(self, row: int, folders: list[str], libraries: set[str], is_last: bool = False):
        self.row = row
        self.folders = folders
        self.libraries = libraries
        self.is_last = is_last


def read_rooms() -> list[Room]:
    """The rows `| number | room[, room...] | holds | third party | must never |`, in order."""
    rooms = []
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 5 or not cells[0].isdigit():
            continue
        folders = [folder.strip() for folder in cells[1].split(",")]
        named = {name.strip() for name in re.split(r"[,;]", re.sub(r"\([^)]*\)", "", cells[3]))}
        unknown = named - set(LIBRARIES) - {"std", "-"}
        if unknown:
            sys.exit(f"{TABLE}: unknown third party in row {cells[0]}: {', '.join(sorted(unknown))}")
        rooms.append(Room(len(rooms), folders, named & set(LIBRARIES)))
    if not rooms:
        sys.exit(f"{TABLE}: no room table")
    rooms[-1].is_last = True
    return rooms


def room_of(path: str, rooms: list[Room]) -> Room | None:
    for room in rooms:
        if any(path == folder or path.startswith(folder + "/") for folder in room.folders):
            return room
    return None


def listed_files() -> list[str]:
    """Tracked files, and new ones that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(path for path in set(listing.splitlines()) if (ROOT / path).is_file())


def check_include(path: str, header: str, quote: str, room: Room, rooms: list[Room]) -> str | None:
    if quote == '"':
        return f'found "{header}"; expected <weir/...>, the path from the root'
    if header.startswith("weir/"):
        target = header.removeprefix("weir/")
        if not (ROOT / target).is_file():
            return f"<{header}> does not exist"
        other = room_of(target, rooms)
        if other is None:
            return f"<{header}> is in no room of docs/architecture.md"
        if target.startswith(TRANSPORT + "/") and not (path.startswith(TRANSPORT + "/") or room.is_last):
            return f"<{header}> is the MPI transport, which libweir is built without"
        if other.row > room.row:
            return f"<{header}> is in a room below {room.folders[0]}"
        if other.is_last and not room.is_last:
            return f"<{header}> must not be included by others"
        return None
    if any(header.startswith(prefix) for prefix in LIBRARIES["MPI"]):
        if not path.startswith(TRANSPORT + "/") and not room.is_last:
            return f"<{header}> is for {TRANSPORT} alone"
        if path.startswith(TRANSPORT + "/") and path.endswith(".hpp") and path != MPI_HEADER:
            return f"<{header}> in a header; of these only {MPI_HEADER} may include it"
        return None
    for name, prefixes in LIBRARIES.items():
        if any(header.startswith(prefix) for prefix in prefixes):
            return None if name in room.libraries else f"<{header}>: {name} is not for {room.folders[0]}"
    if "." in header or "/" in header:
        return None if SYSTEM.match(header) else f"<{header}> belongs to no library this checker knows"
    return None


def check_source(path: str, room: Room, rooms: list[Room]) -> list[str]:
    problems = []
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    if not lines or "SPDX-License-Identifier" not in "".join(lines[:4]):
        problems.append(f"{path}:1: no SPDX-License-Identifier in the first lines")
    if path.endswith((".hpp", ".cuh")) and "#pragma once" not in lines:
        problems.append(f"{path}:1: no #pragma once")
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        problem = check_include(path, match.group(2), match.group(1), room, rooms) if match else None
        if problem:
            problems.append(f"{path}:{number}: {problem}")
        if OPEN_WORK.search(line):
            problems.append(f"{path}:{number}: open work belongs in an issue, not in the source")
    return problems


def check_name(path: str) -> str | None:
    for part in pathlib.PurePath(path).parts:
        words = set(re.split(r"[_.-]", part.lower()))
        if words & BANNED_WORDS:
            return f"{path}:1: the name '{part}' does not say what is inside"
    return None


def missing_tests(files: list[str], rooms: list[Room]) -> list[str]:
    headers = [path for path in files if path.endswith(".hpp") and not room_of(path, rooms[-1:])]
    return [path for path in headers if f"tests/{path.removesuffix('.hpp')}_test.cpp" not in files]


def main() -> int:
    rooms = read_rooms()
    files = listed_files()
    if sys.argv[1:] == ["--missing-tests"]:
        print("\n".join(missing_tests(files, rooms)))
        return 0

    problems = []
    num_sources = 0
    for path in files:
        problem = check_name(path)
        if problem:
            problems.append(problem)
        if pathlib.PurePath(path).suffix not in SOURCE_SUFFIXES:
            continue
        num_sources += 1
        room = room_of(path, rooms)
        if room is None:
            problems.append(f"{path}:1: in no room of docs/architecture.md")
        else:
            problems += check_source(path, room, rooms)
    print("\n".join(problems) if problems else f"{num_sources} sources keep to their rooms")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
