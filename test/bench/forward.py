#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""forward.py PROGRAM: output of 64 processes that write as fast as they can, through pmixrun, Debian's mpirun of Open MPI
and `cat`, in turns, into a pipe that this reads. Exit status 1 if pmixrun passes on less than twice as much in a second as
mpirun, or less than half of cat, or if any byte is missing."""
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from spawn import MPIRUN, PMIXRUN

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
RANKS = 64
MIB = 1 << 20
ROWS = ((64, MIB // 2), (4096, 4 * MIB), (65536, 4 * MIB))  # of a write, of a process
TIMEOUT_S = 120
LEAST = {"mpirun": 2.0, "cat": 0.5}  # times as fast as that


def ways():
    found = {"pmixrun": [PMIXRUN, "-n", str(RANKS)],
             "cat": ["sh", "-c", "i=0; { while [ $((i += 1)) -le %d ]; do \"$@\" & done; wait; } | cat" % RANKS, "sh"]}
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun:
        found["mpirun"] = [mpirun, "-n", str(RANKS)]
    return found


def read_all(job, ready, go):
    """Returns (seconds, bytes), from the moment when all may write."""
    came = 0
    while came < RANKS:
        came += len(os.read(ready, RANKS))
    began = time.monotonic()
    writer = os.open(go, os.O_RDWR)  # open until all ranks have opened it
    room, n = bytearray(MIB), 0
    while got := os.readv(job.stdout.fileno(), [room]):
        n += got
    os.close(writer)
    return time.monotonic() - began, n


def sample(command, program, size, each):
    """Returns MB/s, and milliseconds of processor time per MB of all processes."""
    place = tempfile.mkdtemp(prefix="tb.")
    paths = [os.path.join(place, name) for name in ("ready", "go")]
    for path in paths:
        os.mkfifo(path)
    ready = os.open(paths[0], os.O_RDWR)
    job = subprocess.Popen(command + [program, *paths, str(each), str(size)], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, env=dict(os.environ, TMPDIR=place, **MPIRUN))
    signal.alarm(TIMEOUT_S)
    try:
        seconds, n = read_all(job, ready, paths[1])
        _, status, usage = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
    finally:
        signal.alarm(0)
        if job.returncode is None:
            job.terminate()
            job.wait()
        os.close(ready)
        shutil.rmtree(place, ignore_errors=True)
    if job.returncode or n != RANKS * each:
        sys.exit("bench: exit status %d, %d of %d bytes of %s" % (job.returncode, n, RANKS * each, command[0]))
    return n / 1e6 / seconds, (usage.ru_utime + usage.ru_stime) / n * 1e9


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("bench: not within %d s" % TIMEOUT_S))
    wrong, sides = 0, ways()
    print("%-10s" % "write of" + "".join("%22s" % side for side in sides))
    for size, each in ROWS:
        samples = {side: [] for side in sides}
        for _ in range(ROUNDS):
            for side, command in sides.items():
                samples[side].append(sample(command, sys.argv[1], size, each))
        speed, cost = ({side: statistics.median(s[i] for s in samples[side]) for side in sides} for i in (0, 1))
        print("%-10d" % size + "".join("%8.0f MB/s %5.2f ms/MB" % (speed[side], cost[side]) for side in sides))
        wrong += any(speed["pmixrun"] < speed[side] * least for side, least in LEAST.items() if side in sides)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
