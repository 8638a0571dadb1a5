#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No writable data in the library and the components outside globals-allow.txt, which names the
one process object. Constant tables with relocations (.data.rel.ro) are not writable data."""
import os
import subprocess

import common

ALLOW = "contrib/check/globals-allow.txt"


def objects(build):
    """Returns the object files of core/ and components/, relative to the build folder."""
    return common.files(build, ".o", under=("core", "components"))


def writable(build):
    """Returns (object file, name) of each writable data symbol."""
    paths = objects(build)
    out = subprocess.run(["nm", "-A", "--format=sysv", "--defined-only", *paths], cwd=build,
                         check=True, capture_output=True, text=True).stdout if paths else ""
    for line in out.splitlines():
        fields = [f.strip() for f in line.split("|")]
        if len(fields) != 7 or fields[2] not in tuple("bBdDsSgGC"):
            continue
        if not fields[6].startswith(".data.rel.ro"):
            path, _, name = fields[0].partition(":")
            yield path, name


def check(root, build):
    allowed = [line.split("#")[0].strip() for line in common.read(root, ALLOW).splitlines()]
    unused = {name for name in allowed if name}
    violations = []
    for path, name in writable(build):
        if name in allowed:
            unused.discard(name)
        else:
            violations.append("%s: writable global %s" % (path, name))
    return violations + ["%s: no such object any more: %s" % (ALLOW, n) for n in sorted(unused)]


def sample(root, build):
    common.write(root, ALLOW, "# comment\npx_process\npx_gone\n")
    common.write(root, "x.c", "int px_process = 1;\n"
                 "int stray = 1;\nint *counter(void);\n"
                 "int *counter(void) { static int calls; return &calls; }\n"
                 "_Thread_local int per_thread;\n"
                 "const int fine = 1;\nconst int *const table[] = {&fine};\n")
    out = os.path.join(build, "core", "x.o")
    os.makedirs(os.path.dirname(out))
    subprocess.run([*os.environ.get("CC", "cc").split(), "-fPIC", "-c", "-o", out,
                    os.path.join(root, "x.c")], check=True)
    return ["global stray", "calls", "per_thread", "px_gone"]


if __name__ == "__main__":
    common.main(check, sample)
