#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""spawn.py PROGRAM OURS: measures the time from a call until all started processes are initialised. Compares our
library under pmixrun with Debian's under Debian's Open MPI mpirun, in turns. Exit status 1 if ours takes more than
half as long; 77 without another library or launcher."""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "9"))
MANY = "64"
TIMEOUT_S = 30
PMIXRUN = os.path.join(os.environ["TENON_BUILD"], "contrib/tools/pmixrun")
MPIRUN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
          "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_tcp_if_include": "lo",
          "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def run(launcher, library, place, n, *program):
    """Returns {row: the longest time of all processes}."""
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library), TMPDIR=place, **MPIRUN)
    command = [launcher, "-n", n, program[0]] + [
        "%.1f" % (time.monotonic() * 1e6) if word == "NOW" else word for word in program[1:]]
    job = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        out = job.communicate(timeout=TIMEOUT_S)[0]
    except subprocess.TimeoutExpired:
        job.terminate()
        job.communicate()
        raise
    if job.returncode:
        sys.exit("bench: exit status %d of %s" % (job.returncode, " ".join(command)))
    rows = {}
    for row, us in (line.split() for line in out.splitlines()):
        rows[row] = max(float(us), rows.get(row, 0))
    return rows


def sample(launcher, library, program):
    place = tempfile.mkdtemp(prefix="tb.")
    try:
        rows = run(launcher, library, place, "1", program, "launch-1", "NOW")
        rows.update(run(launcher, library, place, MANY, program, "launch-" + MANY, "NOW"))
        rows.update(run(launcher, library, place, "1", program, "1", MANY))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return rows


def main():
    program, ours = sys.argv[1:]
    mpirun = shutil.which("mpirun.openmpi")
    theirs = glob.glob("/usr/lib/*/libpmix.so.2")
    if not mpirun or not theirs:
        print("no other library, or no launcher for it, here")
        return 77
    sides = [(PMIXRUN, ours), (mpirun, theirs[0])]
    samples = [[], []]
    while len(samples[1]) < ROUNDS:
        samples[0].append(sample(*sides[0], program))
        try:
            samples[1].append(sample(*sides[1], program))
        except subprocess.TimeoutExpired:  # some of its jobs never end
            print("theirs hangs")
    wrong = 0
    print("%-20s %10s %10s %7s" % ("ms", "ours", "theirs", "ratio"))
    for row in sorted(samples[0][0]):
        a, b = (statistics.median(s[row] for s in side) for side in samples)
        print("%-20s %10.2f %10.2f %7.3f" % (row, a / 1000, b / 1000, a / b))
        wrong += a > b * 0.5
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
