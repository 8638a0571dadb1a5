#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many cycles of init, fence, group and finalize by 64 processes with random pauses. No cycle hangs, the server's
memory does not grow after the first cycles, and its descriptors are those of the present connections. meson sets TENON_BUILD. CYCLES_SEED: seed of the pauses.

cycles.py [CYCLES]   another number of cycles"""
import os
import re
import subprocess
import sys
import threading
import time

from px_test import Place, kill, times

BUILD = os.environ["TENON_BUILD"]
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
CLIENT = os.path.join(BUILD, "test/integration/client")
SEED = int(os.environ.get("CYCLES_SEED", time.time_ns() % 1000000))
RANKS = 64
CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else times(60, 10000)
HANGS_S = 60 + CYCLES / 20  # without a line for a twentieth of the cycles: at least one cycle in a second
WARM = 0.25                 # part of the cycles after which nothing grows
MOST_KB = 1024
MOST_OPEN = 8 * RANKS


def state(pid):
    """Returns the resident memory in KB and the number of descriptors."""
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read()).group(1)), len(os.listdir("/proc/%d/fd" % pid))


def watch(job):
    """Returns [(cycles, memory, descriptors)], and the ranks that ended well."""
    seen, ended = [], set()
    timer = None
    for line in job.stdout:
        if timer:
            timer.cancel()
        found = re.match(r"(\d+) cycles$|OK group_cycles (\d+)$", line)
        if found and found.group(1):
            seen.append((int(found.group(1)), *state(job.pid)))
        elif found:
            ended.add(int(found.group(2)))
        timer = threading.Timer(HANGS_S, kill, [job.pid])
        timer.start()
    if timer:
        timer.cancel()
    return seen, ended


def main():
    place, begin = Place(), time.monotonic()
    job = subprocess.Popen([PMIXRUN, "-n", str(RANKS), CLIENT, "group_cycles", str(CYCLES), str(SEED)], env=place.env,
                           cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        seen, ended = watch(job)
        status = job.wait(HANGS_S)
    finally:
        kill(job.pid)
        job.wait()
        left = place.files()
        place.remove()
    for row in seen:
        print("%d cycles: %d KB, %d descriptors" % row)
    warm = [row for row in seen if row[0] > WARM * CYCLES]
    grown = warm[-1][1] - warm[0][1] if warm else 0
    print("seed %d: %d of %d cycles in %.0f s, status %d" % (
        SEED, seen[-1][0] if seen else 0, CYCLES, time.monotonic() - begin, status), flush=True)
    failed = [text for broken, text in (
        (status != 0 or len(ended) != RANKS, "%d of %d processes ended well" % (len(ended), RANKS)),
        (not warm, "no cycle is done"),
        (grown > MOST_KB, "memory +%d KB, limit %d KB" % (grown, MOST_KB)),
        (any(row[2] > MOST_OPEN for row in seen), "more than %d descriptors" % MOST_OPEN),
        (left, "files are left: %s" % left)) if broken]
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    if not os.path.exists("/proc/self/fd"):
        print("needs /proc")
        sys.exit(77)
    sys.exit(main())
