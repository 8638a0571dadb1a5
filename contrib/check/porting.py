#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of Linux are used in a few places only, so that a port is the list of functions in docs/porting.md,
and that list has the functions of core/os and contrib/tools/os.h."""
import os
import re

import common

TREES = ("core", "components", "frameworks", "include", "contrib/tools")
PAGE = "docs/porting.md"
# Files that other systems replace, and components that they do without.
HOMES = ("core/os/", "contrib/tools/os_linux.c", "components/gds/shm/segment.c", "components/pfexec/linux/",
         "components/ptl/tcp/owner.c")
DECLARING = ("core/os/", "contrib/tools/os.h")
HEADERS = re.compile(
    r"(linux|asm)/|(features|malloc)\.h"
    r"|sys/(auxv|epoll|fanotify|fsuid|inotify|personality|prctl|ptrace|signalfd|syscall|sysinfo|sysmacros|timerfd|vfs)\.h")
NAMES = re.compile(
    r"\b(epoll_\w+|EPOLL\w+|signalfd\w*|timerfd_\w+|[if]anotify_\w+|inotify_\w+|SYS_[a-z]\w*|__NR_\w+|syscall|prctl"
    r"|PR_[SG]ET_\w+|pidfd_open|pidfd_send_signal|P_PIDFD|clone3?|CLONE_\w+|unshare|setns|__WALL|WCOREFLAG|ptrace|PTRACE_\w+"
    r"|ucred|SO_(PEER|PASS)CRED|SCM_CREDENTIALS|F_[GS]ETPIPE_SZ|F_OFD_\w+|F_SEAL_FUTURE_WRITE|MFD_NOEXEC_SEAL|O_TMPFILE"
    r"|renameat2|RENAME_\w+|statx|STATX_\w+|AT_NO_AUTOMOUNT|AT_STATX_\w+|f?statfs|getdents64|name_to_handle_at|fallocate"
    r"|splice|vmsplice|mremap|MAP_(NORESERVE|POPULATE|LOCKED)|MADV_(POPULATE_\w+|WIPEONFORK|DONTFORK)|mallopt|malloc_trim"
    r"|malloc_usable_size|mallinfo2?|process_vm_\w+|gettid|tgkill|FUTEX_\w+|RLIMIT_RTTIME|getauxval|AT_SECURE|AT_EXECFN"
    r"|setfs[ug]id|pthread_timedjoin_np|strerrorname_np|sig(abbrev|descr)_np|program_invocation\w*"
    r"|canonicalize_file_name|rawmemchr)\b")
FOLDERS = re.compile(r'"[^" ]*(/proc|/sys)(?:/[^" ,]*)?"')
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DECLARED = re.compile(r"^(?!static|typedef|extern|#|/| |\})[\w *]+?\b(\w+)\(", re.M)
CELL = re.compile(r"^\|([^|]*`\w+`[^|]*)\|", re.M)  # the first cell of a row


def code_of(root, path):
    """Returns the file without its comments, but with all line numbers."""
    return COMMENTS.sub(lambda m: "\n" * m.group().count("\n"), common.read(root, path))


def strangers(code):
    """Yields (line number, text) of each use of an interface of Linux."""
    for number, line in enumerate(code.splitlines(), 1):
        header = re.match(r"\s*#\s*include\s*<([^>]+)>", line)
        if header:
            if HEADERS.match(header.group(1)):
                yield number, "<%s>" % header.group(1)
            continue
        for found in FOLDERS.finditer(line):
            yield number, found.group(1)
        for found in NAMES.finditer(re.sub(r'"(\\.|[^"\\])*"', '""', line)):
            yield number, found.group()


def check(root, _build):
    violations, declared = [], set()
    for path in common.files(root, ".c", ".h", ".def", under=TREES):
        code = code_of(root, path)
        if path.startswith(DECLARING) and path.endswith(".h"):
            declared.update(DECLARED.findall(code))
        if not path.startswith(HOMES):
            violations += ["%s:%d: %s is for Linux alone; see %s" % (path, number, name, PAGE)
                           for number, name in strangers(code)]
    page = common.read(root, PAGE) if os.path.exists(os.path.join(root, PAGE)) else ""
    listed = {name for cell in CELL.findall(page) for name in re.findall(r"`(px_\w+|os_\w+)`", cell)}
    return (violations + ["%s: no row for %s()" % (PAGE, name) for name in sorted(declared - listed)] +
            ["%s: %s() is not a function of core/os" % (PAGE, name) for name in sorted(listed - declared)])


def sample(root, _build):
    common.write(root, "core/os/os.h", "/* int px_os_old(void); */\nint px_os_known(int a,\n                int b);\n"
                 "bool *px_os_new(void);\nstatic inline int px_os_own(void)\n{\n    return f(1);\n}\n")
    common.write(root, "core/os/linux.c", "#include <sys/epoll.h>\nint f(void) { return open(\"/proc/self\"); }\n")
    common.write(root, PAGE, "| function | purpose |\n|---|---|\n| `px_os_known`, `px_os_gone` | `px_os_other` |\n")
    common.write(root, "core/rt/bad.c", "#include <linux/futex.h>\n#include <stdio.h>\n/* prctl in a comment */\n"
                 "int f(void) { return prctl(PR_SET_NAME, \"syscall\"); }\nchar *p = \"/proc/self/exe\", *q = \"/process\";\n")
    common.write(root, "components/gds/hash/bad.c", "int f(void) { return mremap(0, 1, 2, 0); }\n")
    common.write(root, "components/pfexec/linux/good.c", "int f(void) { return clone(0, 0, 0, 0); }\n")
    common.write(root, "contrib/tools/bad.c", "\n#include <sys/signalfd.h>\n")
    return ["core/rt/bad.c:1: <linux/futex.h>", "core/rt/bad.c:4: prctl", "core/rt/bad.c:4: PR_SET_NAME", "core/rt/bad.c:5: /proc",
            "components/gds/hash/bad.c:1: mremap", "contrib/tools/bad.c:2: <sys/signalfd.h>",
            "no row for px_os_new()", "px_os_gone() is not"]


if __name__ == "__main__":
    common.main(check, sample)
