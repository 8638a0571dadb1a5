#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi.py SOURCE OURS: compares the time of an MPI program (test/integration/mpi.c) with 16 ranks, in turns: our
library under pmixrun, and Debian's library under Debian's Open MPI mpirun --oversubscribe. A time is that of the
launcher, from start to end. The exit status is 1 if a median of ours is more than 1.3 times theirs, and 77 without Open
MPI."""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from spawn import MPIRUN, PMIXRUN

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
RANKS = 16
ROWS = ("ring", "coll")
MOST = 1.3
PATIENCE_S = 120


def sample(command, library, program, row):
    """Returns the seconds of one run."""
    place = tempfile.mkdtemp(prefix="tb.")
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library), TMPDIR=place, **MPIRUN)
    began = time.monotonic()
    try:
        job = subprocess.run([*command, "-n", str(RANKS), program, row, str(RANKS)], env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False)
        seconds = time.monotonic() - began
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if job.returncode or job.stdout.count("OK %s " % row) != RANKS:
        sys.exit("bench: exit status %d of %s %s" % (job.returncode, " ".join(command), row))
    return seconds


def compare(sides, program):
    """Returns the number of rows that are too slow."""
    wrong = 0
    print("%-10s %10s %10s %7s" % ("s", "ours", "theirs", "ratio"))
    for row in ROWS:
        samples = [[], []]
        for _ in range(ROUNDS):
            for side, kept in zip(sides, samples):
                kept.append(sample(*side, program, row))
        ours, theirs = (statistics.median(kept) for kept in samples)
        print("%-10s %10.2f %10.2f %7.3f" % (row, ours, theirs, ours / theirs))
        wrong += ours > theirs * MOST
    return wrong


def main():
    source, ours = sys.argv[1:]
    theirs = glob.glob("/usr/lib/*/libpmix.so.2")
    mpirun, mpicc = (shutil.which(name + ".openmpi") for name in ("mpirun", "mpicc"))
    if not mpirun or not mpicc or not theirs:
        print("Open MPI is not installed")
        return 77
    sides = [([PMIXRUN], ours), ([mpirun, "--oversubscribe"], theirs[0])]
    top = os.path.dirname(os.path.abspath(__file__)) + "/../.."
    folder = tempfile.mkdtemp(prefix="tb.")
    try:
        program = os.path.join(folder, "mpi")
        subprocess.check_call([mpicc, "-O1", "-I" + top + "/include", "-I" + os.environ["TENON_BUILD"] + "/include",
                               "-o", program, source])
        return 1 if compare(sides, program) else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
