#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the number of reads of the global px_process in each room of core/. Fails above LIMIT. Only
the beginning of a role and the functions of the API read px_process. Other functions take arguments."""
import re

import common

LIMIT = 150


def reads(root):
    """Returns {room: reads of px_process}, without comments and the name of the type."""
    rooms = {}
    for path in common.files(root, ".c", under=("core",)):
        text = re.sub(r"/\*.*?\*/", "", common.read(root, path), flags=re.DOTALL)
        n = len(re.findall(r"(?<!struct )\bpx_process\b", text))
        if n:
            room = "/".join(path.split("/")[:2])
            rooms[room] = rooms.get(room, 0) + n
    return rooms


def report(root):
    rooms = reads(root)
    for room, n in sorted(rooms.items(), key=lambda item: -item[1]):
        print("%-20s %4d" % (room, n))
    print("%-20s %4d of %d" % ("all", sum(rooms.values()), LIMIT))


def check(root, _build):
    n = sum(reads(root).values())
    return ["%d reads of px_process in core, expected at most %d" % (n, LIMIT)] if n > LIMIT else []


def sample(root, _build):
    line = "/* px_process */ struct px_process *p = &px_process; px_process_lock();\n"
    common.write(root, "core/rt/a.c", line * LIMIT)
    common.write(root, "core/client/b.c", "px_process.model;\n")
    common.write(root, "core/rt/a.h", "extern struct px_process px_process;\n")
    return ["%d reads" % (LIMIT + 1)]


if __name__ == "__main__":
    common.main(check, sample, report)
