#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Failing system calls and allocations: a call of a server, or of a process that the server made of itself, fails once
or from then on. The job ends, with or without an error. Nothing crashes or hangs, and no process is left (unless no file
can be opened to find processes). The next server's start removes all files, except those that the failed call
should have removed. After an error with a fallback (an interrupted call, or a call that the kernel lacks), the job
succeeds, and leaves nothing at once. meson sets TENON_BUILD.
Each thread and process has its own count of calls, so "the third openat" fails in each of them. Calls of the
dynamic linker before main do not count. Runs with each component of pcleanup, with inproc as a plain user, as root
in namespaces of its own, so that other processes on the machine do not count. Allocations fail in the server and in a
client. The long form fails each allocation.
FAULTS: number of faults, of as many kinds (component, call, error) as possible. FAULT_SEED: selects the faults.
FAULT_LOG: a file with a line for each fault."""
import collections
import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from px_test import NOBODY, Place, alone, kill, others_can_run, times

BUILD = os.environ["TENON_BUILD"]
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
CLIENT = os.path.join(BUILD, "test/integration/client")
STOP = os.path.join(BUILD, "test/integration/libstop.so")
NOMEM = os.path.join(BUILD, "test/integration/libnomem.so")
FAULTS = times(12, 400, 20)
# Programs of jobs, the process whose allocations fail, and the number of allocations at most.
ALLOCATIONS = {("litter", "pmixrun"): times(8, 1000000, 20), ("groups", "pmixrun"): times(4, 1000000, 8),
               ("groups", "client"): times(4, 1000000, 8), ("events", "pmixrun"): times(4, 1000000, 8),
               ("events", "client"): times(4, 1000000, 8)}
SLOW_S = 9  # the programs end earlier, unless one waits for what never comes
SEED = int(os.environ.get("FAULT_SEED", time.time_ns() % 1000000))
LOG = os.environ.get("FAULT_LOG", "/dev/null")
SKIP = 77
TIMEOUT_S = 20
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGPIPE", "SIGXFSZ")
# No ENOSPC from write: a server writes mostly to sockets and pipes.
ERRORS = {
    "openat": ("EMFILE", "ENOMEM"), "mkdir": ("ENOSPC",),
    "mkdirat": ("ENOSPC",), "read": ("EINTR", "EIO"), "write": ("EINTR",),
    "pwrite64": ("ENOSPC", "EINTR"), "writev": ("ENOSPC",), "pwritev": ("ENOSPC",),
    "pread64": ("EIO", "EINTR"), "flock": ("ENOLCK", "EINTR"), "ftruncate": ("EIO",),
    "unlinkat": ("EBUSY", "EIO"), "unlink": ("EIO",), "rmdir": ("EBUSY",), "clone": ("EAGAIN",),
    "clone3": ("EAGAIN", "ENOSYS"), "pidfd_open": ("EMFILE", "ENOSYS"), "socketpair": ("EMFILE",),
    "socket": ("EMFILE",), "bind": ("ENOSPC",), "listen": ("EADDRINUSE",),
    "accept4": ("EMFILE", "ECONNABORTED", "EINTR"), "getsockopt": ("ENOBUFS",),
    "pipe2": ("EMFILE",), "eventfd2": ("EMFILE",), "signalfd4": ("EMFILE",),
    "epoll_create1": ("EMFILE",), "epoll_ctl": ("ENOSPC",), "epoll_wait": ("EINTR",),
    "timerfd_create": ("EMFILE",), "fcntl": ("EMFILE",), "dup2": ("EMFILE",), "dup3": ("EMFILE",),
    "fstat": ("EIO",), "fstatfs": ("EIO",), "newfstatat": ("EIO",), "statx": ("ENOSYS",),
    "readlink": ("ENOMEM",), "getdents64": ("EIO",), "fchmod": ("EPERM",), "mmap": ("ENOMEM",),
    "prctl": ("EPERM",), "setsid": ("EPERM",), "setpgid": ("EPERM",), "close_range": ("ENOSYS",),
    "linkat": ("ENOSPC",), "renameat": ("ENOSPC",), "renameat2": ("EINVAL",), "rename": ("ENOSPC",),
    "sendto": ("ENOBUFS", "EINTR"), "sendmsg": ("ENOBUFS", "EINTR"), "recvmsg": ("EINTR", "ENOMEM"),
    "recvfrom": ("EINTR", "ENOMEM"), "poll": ("EINTR", "ENOMEM"), "ppoll": ("EINTR",),
    "wait4": ("EINTR",), "waitid": ("EINTR",), "clock_nanosleep": ("EINTR",), "kill": ("EPERM",),
    "pidfd_send_signal": ("ENOSYS",), "getrandom": ("ENOSYS",), "chdir": ("EACCES",),
    "landlock_create_ruleset": ("ENOSYS", "EOPNOTSUPP"), "landlock_add_rule": ("ENOMEM",),
    "landlock_restrict_self": ("E2BIG",), "sched_getaffinity": ("EPERM",),
}
# Calls that also fail for good from a call on, as when a resource is exhausted.
FOR_GOOD = ("openat", "mkdir", "mkdirat", "flock", "clone", "clone3", "pidfd_open", "socketpair",
            "socket", "bind", "pipe2", "fcntl", "fstatfs", "statx", "readlink", "getdents64",
            "unlinkat", "unlink", "mmap", "setpgid", "close_range", "sendmsg", "recvfrom", "recvmsg",
            "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "renameat2")
ERRORS = {call: errors + tuple(e + "+" for e in errors if call in FOR_GOOD and e != "EINTR")
          for call, errors in ERRORS.items()}
# Without these calls, processes in sessions of their own are found only by the next start.
LOOKING = (("openat", "EMFILE+"), ("openat", "ENOMEM+"))
ANOTHER_WAY = ("EINTR", "ENOSYS", "EOPNOTSUPP")
# Calls of removal: the file of a failed call may stay. After other failures no file stays.
REMOVING = ("openat", "newfstatat", "fstat", "statx", "fstatfs", "getdents64", "unlinkat",
            "prctl")
# Errors that a call on such a descriptor never returns: errors that the C library need not expect, and errors of
# features that the kernel has confirmed to a component.
NEVER = {("read", "EINTR"): r"\.so[.\d]*>", ("pread64", "EINTR"): r"\.so[.\d]*>",
         ("read", "EIO"): "<(anon_inode|pipe|socket)", ("clone3", "ENOSYS"): "flags=CLONE_PIDFD",
         ("epoll_ctl", "ENOSPC"): "EPOLL_CTL_(DEL|MOD)"}


class Job(Place):
    """A job's folder, and all processes with the folder in their environment."""

    def __init__(self, way):
        super().__init__(0 if way == "janitor" else NOBODY, PMIX_MCA_pcleanup=way)
        self.trace = tempfile.mktemp(prefix="tf.trace.", dir="/tmp")
        self.left = []

    def run(self, *command, watch=lambda p: None, **env):
        """Runs a command; returns the exit status and the text on stderr."""
        with tempfile.TemporaryFile() as err:
            p = subprocess.Popen(command, env={**self.env, **env}, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=err, start_new_session=True,
                                 **self.who)
            watch(p)
            try:
                status = p.wait(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                status = "hangs"
                for pid in self.processes():
                    kill(pid)
                p.wait()
            err.seek(0)
            return status, err.read().decode("utf-8", "replace")

    def traced(self, *options):
        """Runs a job under strace, until all processes of the server have ended or are killed; returns as run()."""
        command = ["strace", "-f", "-b", "execve", "-y", "-o", self.trace, *options, "-p"]
        with tempfile.NamedTemporaryFile("r") as ready:
            tracers = []

            def attach(p):
                os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                tracers.append(subprocess.Popen([*command, str(p.pid)], stderr=ready.file))
                await_not(lambda: os.stat(ready.name).st_size == 0)
                os.kill(p.pid, signal.SIGCONT)

            result = self.job(watch=attach, LD_PRELOAD=STOP)
            tracers[0].wait(timeout=TIMEOUT_S)
            return result

    def job(self, program="litter", **how):
        """Runs a job, until all its processes have ended or are killed; returns as run()."""
        result = self.run(PMIXRUN, "-n", "2", "--timeout", str(TIMEOUT_S), CLIENT, program,
                          PMIX_LAUNCHER_RNDZ_FILE=self.dir + "/pmix.folder/of/file", STRICT="1", **how)
        self.left = await_not(self.processes)
        for pid in self.left:
            kill(pid)
        return result

    def starved(self, scene, nth):
        """Runs a job with a failing allocation; returns as run(). The trace gets the number of allocations."""
        begin = time.monotonic()
        status, err = self.job(scene[0], LD_PRELOAD=NOMEM, NOMEM_PROGRAM=scene[1], NOMEM_AT=str(nth),
                               NOMEM_COUNT=self.trace)
        return ("waits" if time.monotonic() > begin + SLOW_S else status), err

    def lines(self, pattern):
        """Returns (match, line) of strace's output for a pattern."""
        if not os.path.exists(self.trace):
            return []
        with open(self.trace, errors="replace") as f:
            return [(m, line.strip()) for line in f for m in [re.search(pattern, line)] if m]

    def crashed(self):
        """Returns strace's line of the first crash, or None."""
        for m, line in self.lines(r"--- (SIG\w+) |killed by (SIG\w+)"):
            if (m[1] or m[2]) in CRASHES:
                return line
        return None

    def processes(self):
        mark, found = b"TMPDIR=" + self.dir.encode(), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if mark in f.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def folders(self):
        """Returns the names of servers' folders."""
        return [name for name in os.listdir(self.dir) if name.startswith("pmix-server.")]

    def end(self):
        for pid in self.processes():
            kill(pid)
        self.remove()
        if os.path.exists(self.trace):
            os.unlink(self.trace)


def await_not(condition, seconds=5):
    end = time.monotonic() + seconds
    while condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


# ---- what can fail -----------------------------------------------------------------------------

def never_happens(call, error, line):
    """True if the call never fails with this error. line: strace's line of the call."""
    pattern = NEVER.get((call, error.rstrip("+")))
    return pattern is not None and re.search(pattern, line) is not None


def all_ways():
    """Returns the components to test."""
    return ["janitor"] + (["inproc"] if others_can_run(PMIXRUN, CLIENT, STOP) else [])


def all_faults(way):
    """Returns [(way, call, error, nth)] for all calls of a job without faults."""
    place, most = Job(way), collections.Counter()
    try:
        status, err = place.traced("-e", "trace=" + ",".join("?" + call for call in ERRORS))  # "?": this strace may not know the call
        if status or place.left or place.crashed() or place.files():
            sys.exit("faults: traced, it ends with %s, leaves %s: %s" % (
                status, place.left or place.files(), err))
        counts, never = collections.Counter(), set()
        for m, line in place.lines(r"^(\d+) +(\w+)\("):
            call = m[2]
            counts[m[1], call] += 1
            most[call] = max(most[call], counts[m[1], call])
            never |= {(call, error, counts[m[1], call]) for error in ERRORS[call]
                      if never_happens(call, error, line)}
    finally:
        place.end()
    return [(way, call, error, nth) for call, n in sorted(most.items()) for error in ERRORS[call]
            for nth in range(1, n + 1) if (call, error, nth) not in never]


def all_allocations(way, scene):
    """Returns the faults of allocations of a job, at equal distances."""
    place, most = Job(way), ALLOCATIONS[scene]
    try:
        status, err = place.starved(scene, 0)
        if status or place.left or place.files():
            sys.exit("faults: counted, it ends with %s, leaves %s: %s" % (status, place.left or place.files(), err))
        n = int(place.lines(r"^\d+$")[0][0][0])
    finally:
        place.end()
    return [(way, scene, "ENOMEM", nth) for nth in range(1 + SEED % max(1, n // most), n + 1, max(1, n // most))]


def choose(faults):
    """Selects FAULTS faults: one of each kind in random order, then a second of each, and so on."""
    dice, kinds = random.Random(SEED), collections.defaultdict(list)
    for fault in faults:
        kinds[fault[:-1]].append(fault)
    for kind in kinds.values():
        dice.shuffle(kind)
    order, chosen = list(kinds.values()), []
    dice.shuffle(order)
    while order and len(chosen) < FAULTS:
        chosen += [kind.pop() for kind in order]
        order = [kind for kind in order if kind]
    return chosen[:FAULTS]


# ---- what must hold ----------------------------------------------------------------------------

def what_is_wrong(place, call, error, nth):
    """Runs a fault; returns (exit status, text of the error or "")."""
    is_malloc = call in ALLOCATIONS
    status, err = place.starved(call, nth) if is_malloc else place.traced(
        "-e", "trace=" + call, "-e", "inject=%s:error=%s:when=%d%s" % (
            call, error.rstrip("+"), nth, "+" * error.count("+")))
    err = err[-300:]
    if any(never_happens(call, error, line) for _, line in place.lines("INJECTED")):
        return "%s, what never happens" % status, ""
    if status in ("hangs", "waits", 124, -6, -7, -11, 134, 135, 139) or place.crashed():
        return status, "%s %s: %s" % (status, place.crashed() or "", err)
    if place.left and (call, error) not in LOOKING:
        return status, "%d processes are left: %s" % (len(place.left), err)
    another_way = error.rstrip("+") in ANOTHER_WAY
    if another_way and status:
        return status, "the status is %s: %s" % (status, err)
    if another_way and await_not(place.files, 1):
        return status, "files are left: %s: %s" % (place.files(), err)
    following, err = place.run(PMIXRUN, "-n", "1", "true")
    if following:
        return status, "the next server's status is %s: %s" % (following, err[-300:])
    left = place.folders if call in REMOVING or is_malloc else place.files
    if await_not(place.processes) or await_not(left, 1):
        return status, "after the next start: %s" % (place.processes() or left())
    return status, ""


def tried(fault):
    """Runs a fault in a new folder; returns the text of the error or ""."""
    place = Job(fault[0])
    try:
        begin = time.monotonic()
        status, wrong = what_is_wrong(place, *fault[1:])
        with open(LOG, "a") as f:
            f.write("%s %s %s %d: status %s, %.1f s, left %s%s\n" % (
                *fault, status, time.monotonic() - begin, place.files(), wrong and " FAIL " + wrong))
        return wrong
    finally:
        place.end()


def main():
    if not os.path.exists("/proc/self/exe"):
        print("SKIP: needs /proc")
        return SKIP
    # Also a pid namespace, so that only our processes are found.
    alone("--pid", "--fork", "--kill-child", "--mount-proc")
    probe = ["strace", "-f", "-b", "execve", "-y", "-o", "/dev/null", "-e",
             "inject=getppid:error=EPERM:when=1", "true"]
    if not shutil.which("strace") or subprocess.run(probe, check=False,
                                                    stderr=subprocess.DEVNULL).returncode:
        print("SKIP: no strace, or it is not allowed here")
        return SKIP
    faults = [fault for way in all_ways() for fault in all_faults(way)]
    chosen = choose(faults)
    kinds = {fault[:-1] for fault in faults}
    ways = all_ways()
    allocations = [fault for scene in ALLOCATIONS for way in (ways if scene[0] == "litter" else ways[:1])
                   for fault in all_allocations(way, scene)]
    print("seed %d, %s: %d of %d faults, %d of %d kinds, and %d allocations" % (
        SEED, " and ".join(sorted({way for way, _, _ in kinds})), len(chosen), len(faults),
        len({fault[:-1] for fault in chosen}), len(kinds), len(allocations)), flush=True)
    chosen += allocations
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for fault, wrong in zip(chosen, pool.map(tried, chosen)):
            failures += bool(wrong)
            if wrong:
                print("FAIL with %s, %s fails with %s, call %d: %s" % (*fault, wrong), flush=True)
    print("%d of %d failed" % (failures, len(chosen)))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
