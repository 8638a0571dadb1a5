#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIGKILL of a server that stays, of a submitter, or of a process of a job, at random points of some jobs. Nothing is
left a few seconds later, and the other jobs are unharmed. meson sets TENON_BUILD. Arguments are unittest's: -k PATTERN,
-v. KILL_SEED: seed of the random numbers, to repeat the delays of a failed run."""
import os
import random
import subprocess
import tempfile
import time
import unittest

from px_test import REAPED, Place, begin_to_kill, descendants, kill, kill_descendants, times

PMIXRUN = os.path.join(os.environ["TENON_BUILD"], "contrib/tools/pmixrun")
POINTS = times(12, 102)  # in all three tests
SEED = int(os.environ.get("KILL_SEED", time.time_ns() % 1000000))
LIMIT_S = 20 if os.environ.get("TENON_SANITIZE") else 5
SUBMITTERS, SLOTS, LIFE_S = 6, 4, 0.25
# Each process leaves an orphan, so that there is something to clean up.
JOB = ["-n", "1", "sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $$; sleep 0.1; echo end %d"]


class Server(Place):
    """A server that stays, with submitters."""

    def __init__(self):
        super().__init__()
        if os.environ.get("TENON_PRIVATE_SHM") == "yes":
            self.prefix = ""  # all in /dev/shm is ours
        self.submitters = []
        with tempfile.NamedTemporaryFile(prefix="tk.pid.", dir="/tmp", mode="r") as pid:
            subprocess.run([PMIXRUN, "--daemonize", "--slots", str(SLOTS), "--report-pid", pid.name], env=self.env,
                           check=True, timeout=30)
            self.daemon = int(pid.read())

    def submit(self, *args):
        """Starts a submitter in a session of its own."""
        return subprocess.Popen([PMIXRUN, "--submit", *args], env=self.env, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit_all(self):
        self.submitters = [self.submit(*JOB[:-1], JOB[-1] % i) for i in range(SUBMITTERS)]

    def results(self):
        """Returns (status, stdout, stderr) of each submitter."""
        out = []
        for s in self.submitters:
            stdout, stderr = s.communicate(timeout=LIMIT_S * 4)
            out.append((REAPED.get(s.pid, s.returncode), stdout, stderr))
        return out

    def left(self):
        return ["process %d (%s)" % p for p in descendants()] + self.files()

    def await_nothing(self):
        """Waits until nothing is left, or up to the limit; returns what is left."""
        end = time.monotonic() + LIMIT_S
        while self.left() and time.monotonic() < end:
            time.sleep(0.01)
        return self.left()

    def end(self):
        for s in self.submitters:
            s.kill()
            s.communicate()
        kill_descendants(200)
        self.remove()


def leads_group(pid):
    """Returns True for the process of a rank. A child of a shell is named "sh", too, until its exec."""
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


class Kill(unittest.TestCase):
    longMessage = False

    def at_random(self, kill_one, check):
        numbers = random.Random("%d %s" % (SEED, self.id()))
        for point in range(max(POINTS // 3, 1)):
            delay = numbers.uniform(0, LIFE_S)
            server = Server()
            try:
                server.submit_all()
                time.sleep(delay)
                victim = kill_one(server, numbers)
                what = "seed %d, point %d, after %.4f s, %s" % (SEED, point, delay, victim)
                check(server, victim, what)
                left = server.await_nothing()
                self.assertEqual(left, [], "%s: left %s" % (what, left[:8]))
            finally:
                server.end()

    def ends_well(self, server, what):
        """All slots are free, and the server ends."""
        last = server.submit("--no-wait", "-n", str(SLOTS), "echo", "a")
        stdout, stderr = last.communicate(timeout=LIMIT_S * 4)
        self.assertEqual((last.returncode, stdout), (0, "a\n" * SLOTS), "%s: %s" % (what, stderr))
        done = subprocess.run([PMIXRUN, "--terminate"], env=server.env, stderr=subprocess.PIPE, timeout=LIMIT_S * 4)
        self.assertEqual(done.returncode, 0, "%s: %s" % (what, done.stderr))

    def are_well(self, results, but, what):
        for i, (status, stdout, stderr) in enumerate(results):
            if i != but:
                self.assertEqual((status, stdout.split("\n")[1:], stderr), (0, ["end %d" % i, ""], ""),
                                 "%s: job %d: status %d, %r, %s" % (what, i, status, stdout, stderr))

    def test_a_killed_server_leaves_nothing(self):
        def kill_server(server, _):
            kill(server.daemon)
            return "the server"

        def check(server, _, what):
            for i, (status, stdout, stderr) in enumerate(server.results()):
                done = status == 0 and stdout.endswith("end %d\n" % i)
                self.assertTrue(done or (status == 1 and ": " in stderr), "%s: job %d: status %d, %s" % (
                    what, i, status, stderr))
        self.at_random(kill_server, check)

    def test_a_killed_submitter_harms_no_other(self):
        def kill_submitter(server, numbers):
            victim = numbers.randrange(SUBMITTERS)
            server.submitters[victim].kill()
            return victim

        def check(server, victim, what):
            self.are_well(server.results(), victim, what)
            end = time.monotonic() + LIMIT_S
            while len([1 for _, name in descendants() if name == "sleep"]) and time.monotonic() < end:
                time.sleep(0.01)
            self.ends_well(server, what)
        self.at_random(kill_submitter, check)

    def test_a_killed_process_harms_no_other_job(self):
        def kill_process(server, numbers):
            shells = [pid for pid, name in descendants() if name == "sh" and leads_group(pid)]
            victim = numbers.choice(shells) if shells else 0
            if victim:
                kill(victim)
            return victim

        def check(server, victim, what):
            results = server.results()
            killed = [i for i, r in enumerate(results) if r[0] == 137]
            self.assertLessEqual(len(killed), 1, "%s: %s" % (what, results))
            if killed:
                status, stdout, stderr = results[killed[0]]
                self.assertIn("killed by signal 9", stderr, what)
                self.assertIn(stdout.strip(), ("", str(victim)), what)
            self.are_well(results, killed[0] if killed else -1, what)
            self.ends_well(server, what)
        self.at_random(kill_process, check)


if __name__ == "__main__":
    begin_to_kill()
    unittest.main()
