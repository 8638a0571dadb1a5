#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One system call of a server fails, or of a process that it made of itself: the job ends, with an
error or without, nothing crashes, nothing hangs, no process is left, and after the next server's start
no folder of the first. meson sets TENON_BUILD. Every thread and process has its own count of calls, so
"the third openat" fails in each that gets as far.
FAULTS=20: that many of all there are; 0: all. FAULT_SEED: which."""
import collections
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["TENON_BUILD"]
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
LITTER = os.path.join(BUILD, "test/integration/litter")
FAULTS = int(os.environ.get("FAULTS", "20"))
SEED = int(os.environ.get("FAULT_SEED", time.time_ns() % 1000000))
SKIP = 77
PATIENCE_S = 60
ERRORS = {
    "openat": ("EMFILE", "ENOMEM"), "openat2": ("EMFILE", "ENOSYS"), "mkdir": ("ENOSPC",),
    "mkdirat": ("ENOSPC",), "write": ("ENOSPC", "EINTR"), "pwrite64": ("ENOSPC", "EINTR"),
    "writev": ("ENOSPC",), "pwritev": ("ENOSPC",), "pread64": ("EIO",), "flock": ("ENOLCK", "EINTR"),
    "ftruncate": ("EIO",), "unlinkat": ("EBUSY", "EIO"), "unlink": ("EIO",), "rmdir": ("EBUSY",),
    "clone": ("EAGAIN",), "clone3": ("EAGAIN", "ENOSYS"), "pidfd_open": ("EMFILE", "ENOSYS"),
    "socketpair": ("EMFILE",), "pipe2": ("EMFILE",), "eventfd2": ("EMFILE",),
    "epoll_create1": ("EMFILE",), "epoll_ctl": ("ENOSPC",), "timerfd_create": ("EMFILE",),
    "fcntl": ("EMFILE",), "dup3": ("EMFILE",), "fstat": ("EIO",), "newfstatat": ("EIO",),
    "statx": ("ENOSYS",), "getdents64": ("EIO",), "mmap": ("ENOMEM",), "prctl": ("EPERM",),
    "setsid": ("EPERM",), "close_range": ("ENOSYS",), "linkat": ("ENOSPC",), "renameat": ("ENOSPC",),
    "renameat2": ("EINVAL",), "rename": ("ENOSPC",), "sendmsg": ("ENOBUFS",), "recvmsg": ("EINTR",),
    "poll": ("EINTR",), "ppoll": ("EINTR",), "wait4": ("EINTR",), "kill": ("EPERM",),
    "pidfd_send_signal": ("ENOSYS",), "landlock_create_ruleset": ("ENOSYS", "EOPNOTSUPP"),
}


class Place:
    """A folder, and all processes that have it in their environment."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="tf.", dir="/tmp")
        self.trace = tempfile.mktemp(prefix="tf.trace.", dir="/tmp")
        self.env = {k: v for k, v in os.environ.items()
                    if not re.match("(PMIX_|TENON_SERVER_URI|OMPI_|SLURM|LD_)", k)}
        self.env.update(TMPDIR=self.dir, LITTER=os.path.basename(self.dir), HOME="/nonexistent")

    def run(self, *command):
        """Exit status, and what was said on stderr."""
        with tempfile.TemporaryFile() as err:
            p = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=err, start_new_session=True)
            try:
                status = p.wait(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                status = "hangs"
            if status == "hangs":
                for pid in self.processes():
                    kill(pid)
                p.wait()
            err.seek(0)
            return status, err.read().decode("utf-8", "replace")

    def traced(self, *options):
        return self.run("strace", "-f", "-b", "execve", "-qq", "-o", self.trace, *options, PMIXRUN,
                        "-n", "2", "--timeout", "20", LITTER)

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
        return [name for name in os.listdir(self.dir) if name.startswith("pmix")]

    def end(self):
        for pid in self.processes():
            kill(pid)
        shutil.rmtree(self.dir, ignore_errors=True)
        if os.path.exists(self.trace):
            os.unlink(self.trace)
        for name in os.listdir("/dev/shm"):
            if name.startswith(self.env["LITTER"]):
                path = os.path.join("/dev/shm", name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def await_not(condition, seconds=5):
    end = time.monotonic() + seconds
    while condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def known_calls():
    """Of those in ERRORS, what this strace knows."""
    return [call for call in ERRORS if subprocess.run(
        ["strace", "-o", "/dev/null", "-e", "trace=" + call, "true"], check=False,
        stderr=subprocess.DEVNULL).returncode == 0]


def all_faults():
    """[(call, error, nth)] of all that a job does when nothing fails."""
    place, most = Place(), collections.Counter()
    try:
        status, err = place.traced("-e", "trace=" + ",".join(known_calls()))
        if status:
            sys.exit("faults: traced, it ends with %s: %s" % (status, err))
        counts = collections.Counter()
        with open(place.trace, errors="replace") as f:
            for line in f:
                m = re.match(r"(\d+) +(\w+)\(", line)
                if m and m[2] in ERRORS:
                    counts[m[1], m[2]] += 1
        for (_, call), n in counts.items():
            most[call] = max(most[call], n)
    finally:
        place.end()
    return [(call, error, nth) for call, n in sorted(most.items())
            for error in ERRORS[call] for nth in range(1, n + 1)]


def what_is_wrong(call, error, nth):
    """"" if all is as it should be."""
    place = Place()
    try:
        status, err = place.traced("-e", "trace=" + call,
                                   "-e", "inject=%s:error=%s:when=%d" % (call, error, nth))
        if status == "hangs" or status in (124, -6, -7, -11, 134, 135, 139):
            return "%s: %s" % (status, err[-300:])
        if await_not(place.processes):
            return "%d processes are left: %s" % (len(place.processes()), err[-300:])
        status, err = place.run(PMIXRUN, "-n", "1", "true")
        if status:
            return "the next server's status is %s: %s" % (status, err[-300:])
        if await_not(place.processes) or await_not(place.folders, 1):
            return "after the next start: %s" % (place.processes() or place.folders())
        return ""
    finally:
        place.end()


def main():
    probe = ["strace", "-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e",
             "inject=getppid:error=EPERM:when=1", "true"]
    if not shutil.which("strace") or subprocess.run(probe, check=False,
                                                    stderr=subprocess.DEVNULL).returncode:
        print("SKIP: no strace, or it is not allowed here")
        return SKIP
    faults = all_faults()
    chosen = random.Random(SEED).sample(faults, min(FAULTS or len(faults), len(faults)))
    print("seed %d: %d of %d faults" % (SEED, len(chosen), len(faults)), flush=True)
    failures = 0
    for fault in chosen:
        wrong = what_is_wrong(*fault)
        failures += bool(wrong)
        if wrong:
            print("FAIL %s fails with %s, call %d: %s" % (*fault, wrong), flush=True)
    print("%d of %d failed" % (failures, len(chosen)))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
