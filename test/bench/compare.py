#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare.py LIMIT RANKS PROGRAM OURS [THEIRS]: what a program tells of its calls, a row "what microseconds" each,
with our library and with the other implementation (or PX_TEST_INCUMBENT) in the ranks; the server is ours for both.
They take turns, so that a busy machine is busy for both, and the medians are compared. Exit status 1 if a row of ours
takes more than LIMIT times as long, or a row of bytes is not the same; 77 if there is no other library."""
import glob
import os
import statistics
import subprocess
import sys

ROUNDS = 15
PMIXRUN = os.path.join(os.environ["TENON_BUILD"], "contrib/tools/pmixrun")


def run(ranks, program, library):
    out = subprocess.run([PMIXRUN, "-n", ranks, "env",
                          "LD_LIBRARY_PATH=" + os.path.dirname(library), program],
                         check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout
    return {row: float(us) for row, us in (line.split() for line in out.splitlines())}


def main():
    limit, ranks, program, ours = sys.argv[1:5]
    theirs = sys.argv[5:] or [path for path in [os.environ.get("PX_TEST_INCUMBENT"), *glob.glob("/usr/lib/*/libpmix.so.2")]
                              if path and os.path.realpath(path) != os.path.realpath(ours)]
    if not theirs:
        print("no other library here")
        return 77
    samples = {ours: [], theirs[0]: []}
    for _ in range(ROUNDS):
        for library, list_ in samples.items():
            list_.append(run(ranks, program, library))
    wrong = 0
    print("%-20s %10s %10s %7s" % ("microseconds", "ours", "theirs", "ratio"))
    for row in samples[ours][0]:
        a, b = (statistics.median(s[row] for s in samples[lib]) for lib in samples)
        print("%-20s %10.2f %10.2f %7.3f" % (row, a, b, a / b))
        wrong += a != b if row.startswith("bytes") else a > b * float(limit)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
