#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL of a server during a job that registers and creates files. Nothing is left a second later, or, without a
janitor, after the next server's start. meson sets TENON_BUILD. Arguments are unittest's: -k PATTERN, -v. Runs POINTS
times with the janitor, and a tenth as often in each other way. KILL_SEED: seed of the random numbers, to repeat the
delays of a failed run."""
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from px_test import NOBODY, Place, begin_to_kill, descendants, kill, kill_descendants, others_can_run, times

BUILD = os.environ["TENON_BUILD"]
SANITIZED = bool(os.environ.get("TENON_SANITIZE"))
POINTS = times(10, 200, 20)
SEED = int(os.environ.get("KILL_SEED", time.time_ns() % 1000000))
LIMIT_S = 10.0 if SANITIZED else 1.0
LIVES = 4  # limit as a multiple of a job's time, if a job takes longer than a quarter of a second
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
CLIENT = os.path.join(BUILD, "test/integration/client")
JOB = ["-n", "2", CLIENT, "litter", "{point}", ":",
       "-n", "1", "sh", "-c", 'sleep 300 >/dev/null 2>&1 & "$0" litter', CLIENT, ":",
       # In sessions of their own, without a parent, without an environment, in a ring.
       "-n", "1", "sh", "-c", '(setsid sleep 300 &) >/dev/null 2>&1; setsid sh -c "sleep 301 & '
       'env -i setsid sleep 302" >/dev/null 2>&1 & "$0" litter', CLIENT]
NAMED_POINTS = ("start", "init", "asked", "registered", "made", "fenced", "finalized")


def is_of_library(pid):
    """True if the server made the process by a bare clone, so it runs the server's program. Needs root."""
    try:
        return os.path.samefile("/proc/%d/exe" % pid, PMIXRUN)
    except OSError:
        return False


# ---- one job -----------------------------------------------------------------------------------

class Job(Place):
    """A place with a server, and its leftovers."""

    def __init__(self, uid=0, **env):
        super().__init__(uid, **env)
        self.log = tempfile.NamedTemporaryFile(prefix="tk.log.", dir="/tmp")
        self.err = tempfile.NamedTemporaryFile(prefix="tk.err.", dir="/tmp", mode="r", errors="replace")
        os.chmod(self.log.name, 0o666)
        self.env["LITTER_LOG"] = self.log.name
        if os.environ.get("TENON_PRIVATE_SHM") == "yes":
            self.prefix = ""  # all in /dev/shm is ours
        self.server = None

    def start(self, *args):
        self.server = subprocess.Popen([PMIXRUN, *args], env=self.env, cwd="/", stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=self.err, **self.who)
        return self.server

    def litter(self, point=""):
        return self.start(*[a.format(point=point) if "{" in a else a for a in JOB])

    def errors(self):
        self.err.seek(0)
        return self.err.read()

    def left(self):
        """Describes leftovers; [] without any."""
        what = ["process %d (%s)" % p for p in descendants()] + self.files()
        with open("/proc/net/unix", errors="replace") as f:
            return what + ["socket " + line.split()[-1] for line in f if self.dir in line]

    def await_nothing(self, since, limit):
        """Waits until nothing is left, or up to limit; returns (leftovers, seconds)."""
        while True:
            what = self.left()
            seconds = time.monotonic() - since
            if not what or seconds > limit:
                return what, seconds
            time.sleep(0.01)

    def point(self):
        """Returns the last point that a rank has passed."""
        with open(self.log.name) as f:
            passed = f.read().split()
        return passed[-1] if passed else "none"

    def end(self):
        """Kills all descendants, and removes all files."""
        kill_descendants(200)
        if self.server:
            self.server.wait()
        self.remove()
        self.log.close()
        self.err.close()


# ---- the tests ---------------------------------------------------------------------------------

class Kill(unittest.TestCase):
    longMessage = False

    def setUp(self):
        self.random = random.Random("%d %s" % (SEED, self.id()))
        self.points, self.seconds, self.failures = {}, [], []
        self.limit = LIMIT_S

    def life(self, **how):
        """Returns the time of a job that is not killed. The job must leave nothing, too."""
        lives = []
        for _ in range(3):
            job = Job(**how)
            try:
                begin = time.monotonic()
                status = job.litter().wait(timeout=60)
                lives.append(time.monotonic() - begin)
                self.assertEqual(status, 0, "exit status %d: %s" % (status, job.errors()))
                left, _ = job.await_nothing(time.monotonic(), LIMIT_S * LIVES)
                self.assertEqual(left, [], "left by a job that nobody killed: %s" % left)
            finally:
                job.end()
        self.limit = max(LIMIT_S, LIVES * statistics.median(lives))
        return statistics.median(lives)

    def note(self, job, delay, left, seconds):
        point = job.point()
        self.points[point] = self.points.get(point, 0) + 1
        self.seconds.append(seconds)
        if left:
            self.failures.append("killed after %.4f s (%s): %d left after %.2f s: %s" %
                                 (delay, point, len(left), seconds, ", ".join(left[:8])))

    def judge(self):
        n = len(self.seconds)
        print("\n%s: seed %d, %d points (%s), gone after %.3f s (median), %.3f s (longest), at "
              "most %.2f s" % (
            self._testMethodName, SEED, n,
            ", ".join("%s %d" % p for p in sorted(self.points.items())),
            statistics.median(self.seconds), max(self.seconds), self.limit), file=sys.stderr)
        self.assertEqual(self.failures, [], "seed %d: %d of %d points:\n%s" % (
            SEED, len(self.failures), n, "\n".join(self.failures[:10])))

    def at_random(self, n, kill_it, after, **how):
        life = self.life(**how)
        for _ in range(n):
            delay = self.random.uniform(0, life * 1.05)
            job = Job(**how)
            try:
                job.litter()
                time.sleep(delay)
                kill_it(job)
                job.server.wait()
                self.note(job, delay, *after(job))
            finally:
                job.end()
        self.judge()

    @staticmethod
    def kill_server(job):
        kill(job.server.pid)

    def kill_all_of_it(self, job):
        """Kills the server and all processes that it made of itself, with the others stopped meanwhile."""
        kill(job.server.pid, signal.SIGSTOP)
        for _ in range(100):
            made = [pid for pid, _ in descendants()
                    if pid != job.server.pid and is_of_library(pid)]
            if not made:
                break
            for pid in made:
                kill(pid)
        else:
            self.fail("it makes ever more processes while it is stopped")
        kill(job.server.pid)

    def a_second_later(self, job):
        return job.await_nothing(time.monotonic(), self.limit)

    def after_the_next_start(self, job):
        """Starts a next server with a job of less than a second, or of the whole limit."""
        begin = time.monotonic()
        program = self.random.choice((["true"], ["sleep", str(self.limit)]))
        status = job.start("-n", "1", *program).wait(timeout=60)
        left, seconds = job.await_nothing(begin, max(self.limit, time.monotonic() - begin + 0.5))
        if left:
            left.append("with " + program[0])
        if status:
            left.append("the next server: exit status %d: %s" % (status, job.errors()))
        return left, seconds


class WithTheJanitor(Kill):
    def test_nothing_is_left_a_second_after_the_kill(self):
        self.at_random(POINTS - POINTS // 2, self.kill_server, self.a_second_later)

    def test_nothing_is_left_a_second_after_the_kill_of_a_plain_users_server(self):
        if os.geteuid() == 0 and not others_can_run(PMIXRUN, CLIENT):
            self.skipTest("another user cannot read the build folder")
        self.at_random(POINTS // 2, self.kill_server, self.a_second_later, uid=NOBODY)

    def test_nothing_is_left_when_a_rank_kills_its_server(self):
        self.life()
        for point in NAMED_POINTS:
            job = Job()
            try:
                status = job.litter(point).wait(timeout=60)
                self.note(job, 0, *self.a_second_later(job))
                self.assertEqual(status, -signal.SIGKILL, "%s: exit status %d: %s" % (
                    point, status, job.errors()))
            finally:
                job.end()
        self.judge()

    def test_what_has_lost_its_mark_is_left_in_no_control_group(self):
        how = {"PMIX_MCA_pfexec_%s_cgroup" % c: "yes" for c in ("linux", "posix")}
        job = Job(**how)
        try:
            if job.start("-n", "1", "true").wait(timeout=60):
                self.skipTest("no control group can be made: " + job.errors())
        finally:
            job.end()
        for _ in range(2):
            job = Job(**how)
            try:
                job.start("-n", "1", "sh", "-c", 'grep -o "tenon.*" /proc/self/cgroup >"$LITTER_LOG"; '
                          "env -i setsid prlimit --rttime=1000000 sleep 303 & sleep 304")
                end = time.monotonic() + 20
                while [name for _, name in descendants()].count("sleep") < 2:
                    self.assertLess(time.monotonic(), end, job.errors())
                    time.sleep(0.01)
                self.kill_server(job)
                self.note(job, 0, *self.a_second_later(job))
                group = subprocess.run(["find", "/sys/fs/cgroup", "-name", job.point()],
                                       stdout=subprocess.PIPE)
                self.assertEqual(group.stdout, b"")
            finally:
                job.end()
        self.judge()


class WithoutOne(Kill):
    def test_nothing_is_left_after_the_next_start_if_all_of_it_is_killed(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to tell the janitor from a rank")
        self.at_random(max(POINTS // 10, 2), self.kill_all_of_it, self.after_the_next_start)

    def test_nothing_is_left_after_the_next_start_of_an_inproc_server(self):
        if os.geteuid() == 0 and not others_can_run(PMIXRUN, CLIENT):
            self.skipTest("another user cannot read the build folder")
        self.at_random(max(POINTS // 10, 2), self.kill_server, self.after_the_next_start,
                       uid=NOBODY, PMIX_MCA_pcleanup="inproc")


if __name__ == "__main__":
    begin_to_kill()
    unittest.main()
