#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The library, its components and the tools compile with musl, without warnings. The other libraries of the
system are for its own C library, so nothing is linked: their headers and those of the kernel alone are seen
beside musl's. Without musl-gcc the test is skipped."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import common

TREES = ("core", "components", "frameworks", "contrib/tools")
KEPT = ("-I", "-D", "-isystem", "-std=")
# The kernel's headers, and those of libraries. All other headers of the system are of its C library.
FOREIGN = ("asm", "asm-generic", "linux", "event2", "hwloc", "hwloc.h", "jansson.h", "jansson_config.h", "libltdl", "ltdl.h",
           "munge.h", "systemd", "zconf.h", "zlib.h")


def sources(root, build):
    """Returns source -> (folder, options), from the compile commands of the build."""
    found = {}
    for entry in json.loads(common.read(build, "compile_commands.json")):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        if path.startswith(tuple(tree + "/" for tree in TREES)) and path.endswith(".c"):
            words = shlex.split(entry["command"])
            found[path] = entry["directory"], [w for w in words if w.startswith(KEPT)]
    return found


def link_headers(top):
    """Makes folders with links to the foreign headers below top. Returns the options that search them last."""
    cc = [*os.environ.get("CC", "cc").split(), "-print-multiarch"]
    multiarch = subprocess.run(cc, capture_output=True, text=True, check=False).stdout.strip()
    options = []
    for place in (os.path.join("/usr/include", multiarch), "/usr/include"):
        folder = tempfile.mkdtemp(dir=top)
        options += ["-idirafter", folder]
        for name in FOREIGN:
            if os.path.exists(os.path.join(place, name)):
                os.symlink(os.path.join(place, name), os.path.join(folder, name))
    return options


def compile_with_musl(path, folder, options):
    """Returns a violation for each error."""
    result = subprocess.run(["musl-gcc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options], cwd=folder,
                            capture_output=True, text=True)
    reasons = [line for line in result.stderr.splitlines() if " error: " in line]
    return ["%s: %s" % (path, reason) for reason in reasons or ["?"]] if result.returncode else []


def check(root, build):
    found = sources(root, build)
    if not found:
        return ["no sources in compile_commands.json of %s" % build]
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        headers = link_headers(top)
        jobs = [(path, folder, [*options, *headers, os.path.join(root, path)])
                for path, (folder, options) in sorted(found.items())]
        return sum(pool.map(lambda job: compile_with_musl(*job), jobs), [])


def sample(root, build):
    texts = {
        "core/base/good.c": "#include <fcntl.h>\n#include <unistd.h>\nint f(void) { return dup(STDERR_FILENO); }\n",
        # <fcntl.h> of glibc declares the standard descriptors, too.
        "core/base/unistd.c": "#include <stdio.h>\n#include <fcntl.h>\nint f(void) { return STDERR_FILENO; }\n",
        "components/x/glibc.c": "#include <stdlib.h>\nint f(void) { return RENAME_NOREPLACE; }\n",
        "contrib/tools/warns.c": "#include <sys/poll.h>\nint f(void) { return POLLIN; }\n",
        "test/not_ours.c": "int f(void) { return RENAME_NOREPLACE; }\n",
    }
    for path, text in texts.items():
        common.write(root, path, text)
    common.write(build, "compile_commands.json", json.dumps(
        [{"directory": build, "file": os.path.join(root, path), "command": "cc -D_GNU_SOURCE -O2 -c"} for path in texts]))
    return ["core/base/unistd.c: ", "components/x/glibc.c: ", "contrib/tools/warns.c: "]


if __name__ == "__main__":
    if not shutil.which("musl-gcc"):
        print("no musl-gcc: install musl-tools")
        sys.exit(77)
    common.main(check, sample)
