#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Limits that a document names have these values in the code. In a table with the last heading "constant", the second
cell of each row is the value ("4,096", "16 MiB", "60 s"), and the last cell names a constant and its file, or a
parameter and the file that declares the parameter ("`MAX_CODES` of `core/server/event/on_event.c`"). Each constant
...MAX_... of the server, the built-in host and their messages is in such a table, except for OTHERS."""
import os
import re

import common

HEAD = re.compile(r"^\|.*\|\s*constant\s*\|\s*$")
NAMED = re.compile(r"`(\w+)` of `([\w./]+)`")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1, "s": 1000, "min": 60000,
         "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
VALUE = re.compile(r"^([\d,.]+)\s*(\w*)$")
BOUND = re.compile(r"(?:#define |\b)([A-Z_]*MAX_[A-Z_]+)(?:\s+|\s*=\s*)[(\d]")
BOUNDED = ("core/server", "core/host")
MESSAGES = ("core/wire/ops.h", "core/wire/requests.h")
OTHERS = {  # constants that do not limit what a client can have
    "PX_MAX_CLUSTER": "a parameter's length", "MAX_ENTRIES": "of a program file that is read", "MAX_HEADERS": "likewise",
    "MAX_TRIES": "names of an own folder", "MAX_NAMES": "in a line of the log", "PX_MAX_LISTENERS": "own sockets",
    "MAX_PIDFDS": "descriptors instead of polling", "MAX_INFO_B": "of output of the host", "MAX_PRIORITY": "of syslog",
    "PX_FEED_MAX_B": "a buffer of the server's own", "SEARCH_MAX_US": "time of searches, which then stop",
    "MAX_SENT_B": "values beyond are fetched one by one",
}


def number(text, is_time=False):
    """Returns the number of "16 MiB" or "60 s" (in milliseconds), or None."""
    m = VALUE.match(text.strip())
    if not m:
        return None
    unit = "min" if is_time and m.group(2) == "m" else m.group(2) if m.group(2) in UNITS else m.group(2).lower()
    return float(m.group(1).replace(",", "")) * UNITS[unit] if unit in UNITS else None


def defined(text, name):
    """Returns the value of a constant or the default of a parameter in a source file, or None."""
    m = re.search(r"PX_PARAM_(\w+)\(\s*struct \w+,\s*%s,\s*\"([^\"]*)\"" % name, text)
    if m:
        return number(m.group(2), m.group(1) == "DURATION")
    m = re.search(r"(?:#define %s\s+|\b%s\s*=\s*)([\w\s()*<+/-]+?)\s*(?:/\*|,|}|$)" % (name, name), text, re.M)
    expression = re.sub(r"\b(0x[\da-fA-F]+|\d+)[uUlL]*\b", r"\1", m.group(1)) if m else ""
    expression = re.sub(r"\b[A-Z][A-Z_]+\b", lambda other: str(defined(text, other.group())), expression)
    # Numbers and operators only, so that nothing else is evaluated.
    return eval(expression) if re.fullmatch(r"[\dxa-fA-F\s()*<+/-]+", expression) else None  # pylint: disable=eval-used


def check(root, _build):
    violations, documented = [], set(OTHERS)
    for path, line_number, line in common.table_rows(root, HEAD):
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        named = NAMED.search(cells[-1])
        documented.add(named and named.group(1))
        source = os.path.join(root, named.group(2)) if named else ""
        # Headers of the folder may have constants of which the constant is a multiple.
        near = [p for p in common.files(root, ".h", under=(os.path.dirname(named.group(2)),))] if named else []
        value = defined("\n".join(common.read(root, p) for p in (named.group(2), *near)), named.group(1)) \
            if os.path.isfile(source) else None
        if value is None:
            violations.append("%s:%d: no such constant: %s" % (path, line_number, cells[-1]))
        elif number(cells[1]) != value:
            violations.append("%s:%d: %s is %s" % (path, line_number, named.group(1), value))
    for path in common.files(root, ".c", ".h", under=BOUNDED) + [m for m in MESSAGES if os.path.isfile(os.path.join(root, m))]:
        violations += ["%s: %s is in no table of limits" % (path, name)
                       for name in BOUND.findall(common.read(root, path)) if name not in documented]
    return violations


def sample(root, _build):
    common.write(root, "core/a.c", "#define MAX_A 4096 /* a */\n#define MAX_B (MAX_A * 4u * 1024u)\nenum { WAIT_MS = 200, C = 3 };\n"
                 "PX_PARAM_DURATION(struct conf, wait, \"5m\", 1, 3)\nPX_PARAM_SIZE(\n    struct conf, room, \"2g\", 0)\n")
    common.write(root, "docs/x.md", "| what | limit | constant |\n|---|---|---|\n| a | 4,096 | `MAX_A` of `core/a.c` |\n"
                 "| b | 16 MiB | `MAX_B` of `core/a.c` |\n| c | 1 s | `WAIT_MS` of `core/a.c` |\n| d | 5 min | `wait` of `core/a.c` |\n"
                 "| e | 2 GiB | `room` of `core/a.c` |\n| f | 3 | `NONE` of `core/a.c` |\n| g | 3 | `C` of `core/b.c` |\n"
                 "| h | 17 MiB | `MAX_B` of `core/a.c` |\n")
    common.write(root, "core/host/a.c", "enum { MAX_A = 1, MAX_TRIES = 2 };\n#define PX_MAX_D (3u * 4)\nint i = MAX_E > 3 ? MAX_E + 1 : 0;\n")
    return ["core/host/a.c: PX_MAX_D", "docs/x.md:5: WAIT_MS", "docs/x.md:8: no such", "docs/x.md:9: no such", "docs/x.md:10: MAX_B"]


if __name__ == "__main__":
    common.main(check, sample)
