#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi.py SOURCE OURS: compares the time of an MPI program (test/integration/mpi.c) with 16 ranks, in turns: our
library under pmixrun, and Debian's library under Debian's Open MPI mpirun. A time is that of the launcher, from start
to end. The exit status is 1 if a median of ours is more than 1.3 times theirs, and 77 without Open MPI."""
import os
import subprocess
import sys
import tempfile
import time

from spawn import compare, launch, sides

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
RANKS = "16"
ROWS = ("ring", "coll")
MOST = 1.3
TIMEOUT_S = 120


def sample(side, program):
    """Returns {row: seconds}."""
    times = {}
    for row in ROWS:
        began = time.monotonic()
        out = launch(side, "-n", RANKS, program, row, RANKS, timeout=TIMEOUT_S)
        times[row] = time.monotonic() - began
        if out.count("OK %s " % row) != int(RANKS):
            sys.exit("bench: %s %s: not all ranks are right" % (side[0], row))
    return times


def main():
    source, ours = sys.argv[1:]
    both, samples = sides(ours, "mpicc"), [[], []]
    top = os.path.dirname(os.path.abspath(__file__)) + "/../.."
    with tempfile.TemporaryDirectory(prefix="tb.") as folder:
        program = os.path.join(folder, "mpi")
        subprocess.check_call(["mpicc.openmpi", "-O1", "-I" + top + "/include", "-I" + os.environ["TENON_BUILD"] + "/include",
                               "-o", program, source])
        for _ in range(ROUNDS):
            for side, kept in zip(both, samples):
                kept.append(sample(side, program))
    return compare("s", samples, MOST)


if __name__ == "__main__":
    sys.exit(main())
