#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each header compiles alone and twice, as gnu11; the public ones also as C++17. The build has
compiled those which their own source includes first. The version header has the lines that
configure scripts of hosts read as text."""
import concurrent.futures
import os
import re
import shutil
import subprocess

import common

TREES = ("core", "frameworks", "components", "include", "contrib", "test/lib")
VERSION = "include/pmix_version.h"


def compilers():
    c = os.environ.get("CC", "cc").split()
    likely = c[-1].replace("clang", "clang++").replace("gcc", "g++").replace("cc", "c++")
    cxx = next(n for n in (likely, "c++", "g++", "clang++", None) if n is None or shutil.which(n))
    return c, cxx


def compile_alone(command, root, build, header):
    name = header.removeprefix("include/")
    result = subprocess.run(
        [*command, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         *("-I" + os.path.join(top, folder) for top in (root, build)
           for folder in ("", "include", "test/lib")), "-"],
        input='#include "%s"\n#include "%s"\n' % (name, name), capture_output=True, text=True)
    if result.returncode == 0:
        return None
    reason = next((line for line in result.stderr.splitlines() if "error" in line), "?")
    return "%s: does not compile alone with %s: %s" % (header, " ".join(command[1:]), reason)


def unreadable_version(build):
    """Returns a violation for each version macro that configure scripts of OpenPBS and others cannot read."""
    text = common.read(build, VERSION)
    return ["%s: no line reads \"#define PMIX_VERSION_%s <number>L\"" % (VERSION, part)
            for part in ("MAJOR", "MINOR", "RELEASE")
            if not re.search(r"^#define PMIX_VERSION_%s [0-9]+L$" % part, text, re.M)]


def built_alone(root, header):
    """True if the header has a guard and is the first include of its source."""
    source = header.removesuffix(".h") + ".c"
    if not os.path.exists(os.path.join(root, source)):
        return False
    first = re.search(r'^#include .*', common.read(root, source), re.M)
    names = ('#include "%s"' % name for name in (header, os.path.basename(header)))
    return (first is not None and first.group() in names and
            re.search(r"^#ifndef (\w+)\n#define \1$", common.read(root, header), re.M) is not None)


def check(root, build):
    c, cxx = compilers()
    jobs = []
    for header in common.files(root, ".h", under=TREES):
        if not built_alone(root, header):
            jobs.append((c + ["-std=gnu11", "-x", "c"], root, build, header))
        if os.path.dirname(header) == "include":
            if cxx is None:
                return ["no C++ compiler found"]
            jobs.append(([cxx, "-std=c++17", "-x", "c++"], root, build, header))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [v for v in pool.map(lambda job: compile_alone(*job), jobs) if v]
    return found + unreadable_version(build)


def sample(root, build):
    common.write(build, VERSION, "#define PMIX_VERSION_MAJOR 4L\n"
                 "#define PMIX_VERSION_MINOR  2L\n#define PMIX_VERSION_RELEASE 9\n")
    common.write(root, "include/good.h", "#ifndef G\n#define G\nstruct good { int a; };\n#endif\n")
    common.write(root, "include/keyword.h", "int class(int);\n")
    common.write(root, "core/base/needy.h", "size_t needy(void);\n")
    common.write(root, "core/base/unguarded.h", "struct twice { int a; };\n")
    common.write(root, "core/base/unguarded.c", '#include "core/base/unguarded.h"\n')
    common.write(root, "core/base/needy.c", '#include <stddef.h>\n#include "core/base/needy.h"\n')
    common.write(root, "core/base/fine.h", '#include "good.h"\nstruct good *fine(void);\n')
    return ["include/keyword.h", "core/base/needy.h", "core/base/unguarded.h",
            VERSION, VERSION]


if __name__ == "__main__":
    common.main(check, sample)
