#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of services in docs/coverage.md is made from the rows of core/server/upcall/on_host.c and the module of the built-in
host. --update writes it."""
import os
import re
import sys

import common

SOURCE = "core/server/upcall/on_host.c"
BUILTIN = "core/host/builtin.c"
PAGE = "docs/coverage.md"
HEAD = "| service | the host's function | the built-in host | the library, where the host has none |"
ROW = re.compile(r"(?:^/\* ((?:(?!\*/).)*) \*/\n)?^FORWARD\(\w+, (\w+),(.*?)\);$", re.M | re.S)


def builtin_slots(root):
    """Returns the functions of the built-in host's module."""
    module = re.search(r"pmix_server_module_t functions = \{(.*?)\};", common.read(root, BUILTIN), re.S)
    return set(re.findall(r"\.(\w+) = ", module.group(1)))


def table(text, builtin):
    """Returns the lines of the table, and the services without the comment that their own server needs."""
    lines, bare = [HEAD, "|---|---|---|---|"], []
    for comment, function, members in ROW.findall(text):
        host = re.findall(r"HOST\((\w+)\)", members) + re.findall(r"\.older = PX_SLOT\((\w+)\)", members)
        is_own = ".own = " in members
        if is_own != bool(comment):
            bare.append(function)
        ours = re.sub(r"\s*\n \* ", " ", comment) if is_own else "refused: `PMIX_ERR_NOT_SUPPORTED`"
        lines.append("| `PMIx_%s` | %s | %s | %s |" % (function, ", ".join("`%s`" % slot for slot in host),
                                                       "yes" if builtin & set(host) else "no", ours))
    return lines, bare


def place(page):
    """Returns the lines of the page, and the first and the last line of the table."""
    lines = page.split("\n")
    first = lines.index(HEAD) if HEAD in lines else len(lines)
    last = first
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    return lines, first, last


def check(root, _build):
    wanted, bare = table(common.read(root, SOURCE), builtin_slots(root))
    lines, first, last = place(common.read(root, PAGE))
    violations = ["%s: %s: a comment before the row names the library's own server, and no other row has one" %
                  (SOURCE, function) for function in bare]
    if lines[first:last] != wanted:
        violations.append("%s:%d: the table of services is not current (services.py --update)" % (PAGE, first + 1))
    return violations


def update(root):
    lines, first, last = place(common.read(root, PAGE))
    lines[first:last] = table(common.read(root, SOURCE), builtin_slots(root))[0]
    common.write(root, PAGE, "\n".join(lines))


def sample(root, _build):
    common.write(root, SOURCE, "FORWARD(a, A, HOST(a));\n/* a file and\n * another */\nFORWARD(b, B, HOST(b2),\n        .older = "
                 "PX_SLOT(b), .own = serve);\nFORWARD(c, C, HOST(c), .own = serve);\n/* none */\nFORWARD(d, D, HOST(d));\n")
    common.write(root, BUILTIN, "static const pmix_server_module_t functions = {\n    .b = f,\n};\n")
    common.write(root, PAGE, "# x\n\n%s\n|---|---|---|---|\n| `PMIx_A` | `a` | yes | refused |\n" % HEAD)
    first = check(root, None)
    update(root)
    found = common.read(root, PAGE)
    for row in ("| `PMIx_A` | `a` | no | refused", "| `PMIx_B` | `b2`, `b` | yes | a file and another |\n"):
        assert row in found and not found.endswith("\n\n"), found
    assert len(check(root, None)) == len(first) - 1
    common.write(root, PAGE, "# x\n")
    return [SOURCE + ": C:", SOURCE + ": D:", PAGE + ":3:"]


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    else:
        common.main(check, sample)
