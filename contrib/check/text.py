#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each source has its SPDX line; nothing left for later; nothing from one person's machine."""
import re

import common

SOURCES = (".c", ".h", ".def", ".in", ".py", ".sh", ".map", "meson.build", "meson_options.txt")
OTHERS = (".md", ".txt", ".yml", ".yaml", ".clang-format", ".json", ".1", ".3", ".5")
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
# Put together from parts, so that this file passes.
LATER = re.compile(r"\b(%s)\b" % "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]))
MACHINE = re.compile(r"(?<![\w.$}])/(%s)/" % "|".join(["wo" + "rk", "ho" + "me"]))


def check(root, _build):
    violations = []
    for path in common.files(root, *SOURCES, *OTHERS):
        text = common.read(root, path)
        if path.endswith(SOURCES) and SPDX not in "".join(text.splitlines(True)[:3]):
            violations.append("%s:1: no line %s" % (path, SPDX))
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, what in ((LATER, "left for later"), (MACHINE, "a machine's own path")):
                found = pattern.search(line)
                if found:
                    violations.append("%s:%d: %s: %s" % (path, number, what, found.group()))
    return violations


def sample(root, _build):
    mark = "/* " + SPDX + " */\n"
    common.write(root, "core/good.c", mark + 'mkdtemp("px.XXXXXX");\n')
    common.write(root, "core/bare.c", "int a;\n")
    common.write(root, "core/later.c", mark + "/* TO" + "DO: all */\n")
    common.write(root, "core/path.h", mark + 'open("/wo' + 'rk/x");\n')
    common.write(root, "docs/x.md", "see /ho" + "me/me/x\n")
    return ["core/bare.c:1", "core/later.c:2", "core/path.h:2", "docs/x.md:1"]


if __name__ == "__main__":
    common.main(check, sample)
