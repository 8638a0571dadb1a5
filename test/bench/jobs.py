#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""jobs.py SUBMITTER [N]: N jobs of /bin/true, 10,000 by default, in a server that stays: by one connection, by parallel
prun, and by one prun after the other. Beside PRRTE 3's prte and prun, whose commands BENCH_PRTE and BENCH_PRUN name, for
example "chroot ROOT prun". Fails if the daemon's memory grows by more than a tenth over the second half of the jobs, or
if ours runs less than 40 times as many jobs in a second as PRRTE."""
import concurrent.futures
import os
import shlex
import subprocess
import sys
import tempfile
import time

PMIXRUN = os.path.join(os.environ["TENON_BUILD"], "contrib/tools/pmixrun")
THEIRS = 20  # jobs of PRRTE
RATIO = 40


def memory_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(next(line.split()[1] for line in f if line.startswith("VmRSS:")))


def rate(n, at_once, command, env):
    """Runs a command n times, and returns runs in a second."""
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in pool.map(lambda _: subprocess.run(command, env=env, stdin=subprocess.DEVNULL), range(n)):
            if done.returncode:
                sys.exit("jobs: exit status %d of %s" % (done.returncode, command))
    return n / (time.monotonic() - begin)


def ours(submitter, n):
    """Returns {row: jobs in a second} and the daemon's memory after each third of the jobs."""
    cpus = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="tb.") as place:
        with_library = dict(os.environ, TMPDIR=place)
        # Jobs inherit the environment: a path of libraries slows down each of their programs.
        env = {name: value for name, value in with_library.items() if name != "LD_LIBRARY_PATH"}
        pid = subprocess.run([PMIXRUN, "--daemonize", "--slots", str(2 * cpus), "--report-pid", "-"], env=env, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        pid, memory, rows = int(pid), [], {}

        def one_connection():
            out = subprocess.run([submitter, str(n // 2), str(2 * cpus), "/bin/true"], env=with_library, check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
            memory.append(memory_kb(pid))
            return float(out)
        prun = [PMIXRUN, "--submit", "-n", "1", "/bin/true"]
        rows["one connection"] = max(one_connection(), one_connection())
        rows["prun, %d at once" % (2 * cpus)] = rate(n // 20, 2 * cpus, prun, env)
        rows["prun, one by one"] = rate(n // 40, 1, prun, env)
        memory.append(memory_kb(pid))
        subprocess.run([PMIXRUN, "--terminate"], env=env, check=True)
    return rows, memory


def theirs():
    """Returns jobs in a second by prun of PRRTE, one by one, or None."""
    prte, prun = os.environ.get("BENCH_PRTE"), os.environ.get("BENCH_PRUN")
    if not prte or not prun:
        return None
    server = subprocess.Popen(shlex.split(prte), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        while "ready" not in (line := server.stdout.readline()):
            if not line:
                sys.exit("jobs: %s does not start" % prte)
        return rate(THEIRS, 1, [*shlex.split(prun), "-n", "1", "/bin/true"], None)
    finally:
        server.terminate()
        server.wait()


def main(submitter, n="10000"):
    rows, memory = ours(submitter, int(n))
    other = theirs()
    for row, value in rows.items():
        print("%-20s %8.1f jobs/s" % (row, value))
    if other:
        print("%-20s %8.1f jobs/s, ratio %.1f" % ("PRRTE, one by one", other, max(rows.values()) / other))
    print("memory of the daemon: %s KiB" % ", ".join(map(str, memory)))
    return memory[-1] > 1.1 * memory[0] or (other and max(rows.values()) < RATIO * other)


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
