#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists the functions of each level of the library: declarations in its public header, and in the
parts that the header includes.

usage: functions.py OUTPUT DEPFILE LEVEL=HEADER[,HEADER...]...
       functions.py --self-test
"""
import os
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.M)
PART = re.compile(r'^#include "(pmix_\w+\.h)"', re.M)
NO_PARTS = {"pmix_common.h", "pmix_version.h", "pmix_server.h"}  # shared, or a level of its own
PROTOTYPE = re.compile(r"^[a-z][\w ]*[ *](PMIx_\w+)\(", re.M)


def functions(text):
    """Returns the names of the declared functions, in order."""
    text = DIRECTIVE.sub("", COMMENT.sub("", text))
    return list(dict.fromkeys(PROTOTYPE.findall(text)))


def read_level(header, read):
    """Returns the functions of a header and its parts, and the paths of these files."""
    text = read(header)
    names, paths = functions(text), [header]
    for part in PART.findall(text):
        if part not in NO_PARTS:
            path = os.path.join(os.path.dirname(header), part)
            names += functions(read(path))
            paths.append(path)
    return names, paths


def as_c(levels):
    lines = ["/* Made by functions.py from the headers; do not edit. */",
             '#include "core/role/support.h"', "",
             "const char *const px_support_functions[PX_N_LEVELS] = {"]
    for level, names in levels.items():
        parts = ['        "%s"' % (name + ("," if name != names[-1] else "")) for name in names]
        lines.append("    [PX_LEVEL_%s] =\n%s," % (level, "\n".join(parts or ["        NULL"])))
    return "\n".join(lines + ["};", ""])


def self_test():
    found = functions("""\
/* pmix_status_t PMIx_Old(void); */
#define PMIX_X(a) \\
void PMIx_Macro(a);
pmix_status_t PMIx_A(const char *a,
                     int PMIx_b(int));
const char *PMIx_B(void);
void PMIx_C(void (*PMIx_cb)(void)); typedef int (*pmix_cb)(void);
pmix_status_t PMIx_A(const char *a);
    PMIx_Call(1);
""")
    wrong = [] if found == ["PMIx_A", "PMIx_B", "PMIx_C"] else ["found %s" % found]
    tree = {"i/pmix.h": '#include "pmix_common.h"\n#include "pmix_more.h"\nvoid PMIx_A(void);\n',
            "i/pmix_more.h": "void PMIx_B(void);\n", "i/pmix_common.h": "void PMIx_No(void);\n"}
    found = read_level("i/pmix.h", tree.get)
    if found != (["PMIx_A", "PMIx_B"], ["i/pmix.h", "i/pmix_more.h"]):
        wrong.append("read %s" % (found,))
    return wrong


def read_file(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def main():
    args = sys.argv[1:]
    if args == ["--self-test"]:
        wrong = self_test()
        print("\n".join(wrong), end="")
        sys.exit(1 if wrong else 0)
    if len(args) < 3:
        sys.exit(__doc__)
    levels, paths = {}, []
    for arg in args[2:]:
        level, _, headers = arg.partition("=")
        levels[level] = []
        for header in headers.split(","):
            names, found = read_level(header, read_file)
            levels[level] += names
            paths += found
    with open(args[0], "w", encoding="ascii") as f:
        f.write(as_c(levels))
    with open(args[1], "w", encoding="utf-8") as f:
        f.write("%s: %s\n" % (args[0], " ".join(p.replace(" ", "\\ ") for p in paths)))


if __name__ == "__main__":
    main()
