#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""calls.py PROGRAM OURS [THEIRS]: what the calls of a client cost, with our library and with the other
implementation in the client; the server is ours for both. They take turns, and the medians are
compared. Exit status 1 if a row of ours is slower, 77 if there is no other library."""
import glob
import os
import statistics
import subprocess
import sys

ROUNDS = 15
PMIXRUN = os.path.join(os.environ["TENON_BUILD"], "contrib/tools/pmixrun")


def run(program, library):
    out = subprocess.run([PMIXRUN, "-n", "2", "env",
                          "LD_LIBRARY_PATH=" + os.path.dirname(library), program],
                         check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout
    return {row: float(us) for row, us in (line.split() for line in out.splitlines())}


def main():
    program, ours = sys.argv[1:3]
    theirs = sys.argv[3:] or [path for path in glob.glob("/usr/lib/*/libpmix.so.2")
                              if os.path.realpath(path) != os.path.realpath(ours)]
    if not theirs:
        print("no other library here")
        return 77
    samples = {ours: [], theirs[0]: []}
    for _ in range(ROUNDS):
        for library, list_ in samples.items():
            list_.append(run(program, library))
    slower = 0
    print("%-12s %10s %10s %7s" % ("microseconds", "ours", "theirs", "ratio"))
    for row in samples[ours][0]:
        a, b = (statistics.median(s[row] for s in samples[lib]) for lib in samples)
        print("%-12s %10.2f %10.2f %7.3f" % (row, a, b, a / b))
        slower += a > b
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
