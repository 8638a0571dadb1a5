#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cases that a document names for its requirements exist. In a table with the last heading "case", the last
cell of each row names cases of a unit test (PX_TEST) or of a script (t, or a method in Python)."""
import re

import common

HEAD = re.compile(r"^\|.*\|\s*case\s*\|\s*$")
NAME = re.compile(r"`(\w+)`")
CASE = re.compile(r"^(?:PX_TEST(?:_LOOP)?\(|t |    def (?=test_))(\w+)", re.M)


def check(root, _build):
    known, violations = set(), []
    for path in common.files(root, ".c", ".sh", ".py", under=("test",)):
        known |= set(CASE.findall(common.read(root, path)))
    for path, number, line in common.table_rows(root, HEAD):
        names = NAME.findall(line.rstrip("| ").rsplit("|", 1)[-1])
        violations += ["%s:%d: no such case: %s" % (path, number, name)
                       for name in names or [line] if name not in known]
    return violations


def sample(root, _build):
    common.write(root, "test/unit/a.c", "PX_TEST(one)\n{\n}\nPX_TEST_LOOP(two, 2)\n")
    common.write(root, "test/integration/b.sh", "t three run\n")
    common.write(root, "test/integration/c.py", "class C:\n    def test_six(self):\n        pass\n")
    common.write(root, "docs/x.md", "| what | case |\n|---|---|\n| a | `one` |\n| b | `two` |\n| c | `three`, `test_six` |\n"
                 "| d | `four` |\n| e | one |\n| g | `seven`, `one` |\n\n| what | else |\n|---|---|\n| f | `five` |\n")
    return ["docs/x.md:6", "docs/x.md:7", "docs/x.md:8: no such case: seven"]


if __name__ == "__main__":
    common.main(check, sample)
