#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The library, its components and the tools do not call what cannot be called safely: what writes
without knowing how much room there is, what changes or asks for rights by a path that may lead
elsewhere a moment later, names that can be guessed, a shell, ids of a single thread, what is the host program's."""
import os
import re
import subprocess

import common

WHY = {
    "it does not know how much room there is":
        "strcpy stpcpy strcat sprintf vsprintf gets __strcpy_chk __stpcpy_chk __strcat_chk "
        "__sprintf_chk __vsprintf_chk __gets_chk",
    "the path may lead elsewhere a moment later":
        "chown lchown chmod fchownat fchmodat access euidaccess eaccess faccessat",
    "somebody else may have that name first": "tmpnam tmpnam_r tempnam mktemp",
    "it runs a shell": "system popen",
    "handlers and children belong to the host program":
        "signal sysv_signal bsd_signal sigset sigaction wait wait3",
    "a program with more rights than its user must not follow the environment; see core/base/env.h":
        "getenv",
    "it is for one thread, or asks threads that are not there":
        "setfsuid setfsgid setuid seteuid setreuid setresuid setgid setegid setregid setresgid "
        "setgroups initgroups",
}
BANNED = {name: why for why, names in WHY.items() for name in names.split()}
# faccessat while a program is searched, because exec checks again. The functions of programs of their own.
ALLOWED = {("path.c.o", "faccessat"),
           ("pmixrun.c.o", "sigaction"), ("pmixrun.c.o", "signal"),
           ("host_check.c.o", "signal"), ("query_server.c.o", "signal"),
           # PMIx_Setenv on the program's own environment, and programs that run with the rights of their users.
           ("argv.c.o", "getenv"), ("pmixrun_progress.c.o", "getenv"), ("pmixrun_options.c.o", "getenv"),
           ("names.c.o", "getenv"), ("engine.c.o", "getenv"), ("engine_run.c.o", "getenv"), ("engine_run.c.o", "signal"), ("leftover.c.o", "getenv"), ("pretty.c.o", "getenv")}


def calls(build, objects):
    """Returns (object file, undefined function) pairs, in order."""
    out = subprocess.run(["nm", "--print-file-name", "--undefined-only", *objects], cwd=build,
                         check=True, capture_output=True, text=True).stdout
    return sorted({(line.split(":")[0], line.split()[-1]) for line in out.splitlines()})


def check(_root, build):
    objects = common.files(build, ".o", under=("core", "components", "contrib/tools"))
    if not objects:
        return ["no object files in %s" % build]
    return ["%s: calls %s: %s" % (path, name, BANNED[name])
            for path, name in calls(build, objects)
            if name in BANNED and not any(
                re.search(r"(^|[/_])" + re.escape(file), path) and name == call
                for file, call in ALLOWED)]


def make(root, build, output, source):
    common.write(root, "x.c", source)
    output = os.path.join(build, output)
    os.makedirs(os.path.dirname(output), exist_ok=True)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O0", "-c", "-o", output,
                    os.path.join(root, "x.c")], check=True)


def sample(root, build):
    make(root, build, "core/good.c.o", "#include <string.h>\n#include <unistd.h>\n"
         "int f(char *a, int fd) { memcpy(a, \"x\", 2); return fchown(fd, 1, 1); }\n")
    make(root, build, "core/path.c.o", "#include <fcntl.h>\n#include <unistd.h>\n"
         "int f(char *a) { return faccessat(AT_FDCWD, a, X_OK, 0) + access(a, R_OK); }\n")
    make(root, build, "contrib/tools/x.p/bad.c.o", "#include <stdlib.h>\n#include <string.h>\n"
         "int f(char *a, char *b) { strcpy(a, b); return system(a); }\n")
    make(root, build, "core/x_rt.c.o", "#include <signal.h>\n#include <sys/wait.h>\n"
         "void f(void) { signal(SIGCHLD, SIG_IGN); wait(0); }\n")
    return ["path.c.o: calls access", "bad.c.o: calls strcpy", "bad.c.o: calls system",
            "x_rt.c.o: calls signal", "x_rt.c.o: calls wait"]


if __name__ == "__main__":
    common.main(check, sample)
