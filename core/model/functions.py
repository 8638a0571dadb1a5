#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which functions each part of the library has: what its public headers declare.

usage: functions.py OUTPUT LEVEL=HEADER[,HEADER...]...
       functions.py --self-test
"""
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.M)
PROTOTYPE = re.compile(r"^[a-z][\w ]*[ *](PMIx_\w+)\(", re.M)


def functions(text):
    """Names of the functions declared, in their order."""
    text = DIRECTIVE.sub("", COMMENT.sub("", text))
    return list(dict.fromkeys(PROTOTYPE.findall(text)))


def as_c(levels):
    lines = ["/* Made by functions.py from the headers; do not edit. */",
             '#include "core/model/support.h"', "",
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
    return [] if found == ["PMIx_A", "PMIx_B", "PMIx_C"] else ["found %s" % found]


def main():
    args = sys.argv[1:]
    if args == ["--self-test"]:
        wrong = self_test()
        print("\n".join(wrong), end="")
        sys.exit(1 if wrong else 0)
    levels = {}
    for arg in args[1:]:
        level, _, headers = arg.partition("=")
        levels[level] = []
        for header in headers.split(","):
            with open(header, encoding="ascii") as f:
                levels[level] += functions(f.read())
    if len(args) < 2:
        sys.exit(__doc__)
    with open(args[0], "w", encoding="ascii") as f:
        f.write(as_c(levels))


if __name__ == "__main__":
    main()
