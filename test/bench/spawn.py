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


def sides(ours, *programs):
    """Returns our launcher and library, and Debian's. Ends with status 77 without Debian's, or one of its programs."""
    found = [shutil.which(name + ".openmpi") for name in ("mpirun", *programs)]
    theirs = glob.glob("/usr/lib/*/libpmix.so.2")
    if not all(found) or not theirs:
        print("no other library, or no launcher for it, here")
        sys.exit(77)
    return (PMIXRUN, ours), (found[0], theirs[0])


def launch(side, *command, timeout=TIMEOUT_S):
    """Returns the output of a launcher in a folder of its own."""
    launcher, library = side
    place = tempfile.mkdtemp(prefix="tb.")
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library), TMPDIR=place, **MPIRUN)
    job = subprocess.Popen([launcher, *command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        out = job.communicate(timeout=timeout)[0]
    finally:
        job.terminate()
        job.wait()
        shutil.rmtree(place, ignore_errors=True)
    if job.returncode:
        sys.exit("bench: exit status %d of %s %s" % (job.returncode, launcher, " ".join(command)))
    return out


def compare(unit, samples, most):
    """Prints the medians of two lists of samples, {row: time}. True if one of ours is more than `most` times theirs."""
    wrong = False
    print("%-20s %10s %10s %7s" % (unit, "ours", "theirs", "ratio"))
    for row in sorted(samples[0][0]):
        a, b = (statistics.median(s[row] for s in side) for side in samples)
        print("%-20s %10.2f %10.2f %7.3f" % (row, a, b, a / b))
        wrong |= a > b * most
    return wrong


def sample(side, program):
    """Returns {row: ms, the longest time of all processes}."""
    rows = {}
    for n, *words in (("1", "launch-1", "NOW"), (MANY, "launch-" + MANY, "NOW"), ("1", "1", MANY)):
        now = "%.1f" % (time.monotonic() * 1e6)
        out = launch(side, "-n", n, program, *(now if word == "NOW" else word for word in words))
        for row, us in (line.split() for line in out.splitlines()):
            rows[row] = max(float(us) / 1000, rows.get(row, 0))
    return rows


def main():
    program, ours = sys.argv[1:]
    both, samples = sides(ours), [[], []]
    while len(samples[1]) < ROUNDS:
        samples[0].append(sample(both[0], program))
        try:
            samples[1].append(sample(both[1], program))
        except subprocess.TimeoutExpired:  # some of its jobs never end
            print("theirs hangs")
    return compare("ms", samples, 0.5)


if __name__ == "__main__":
    sys.exit(main())
