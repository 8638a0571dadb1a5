#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Costs of one client's requests. An attacker sends a row of the table, while an innocent client does a call
each millisecond. Prints for each row the innocent client's waits with and without the attack, the server's memory, the
items of work that the server counted (core/server/peer/turn.h), the statuses that the attacker got, and the time that
the server needs to end after SIGTERM, and after --timeout, in the middle of the attack.

cost.py [-n] [-s] [ROW...]  runs these rows, or all; -n reports breaches of the limits without failing; -s: the long form runs all
cost.py -u [-n] [ROW...]  runs these rows, or all of USERS, under a server of root, with the clients as two users
cost.py -l              lists the rows
cost.py --attack ROW NUMBER ENVIRONMENT   is the attacker

A row is cut off after ATTACK_S seconds (PX_TEST_LONG: a longer time). meson sets TENON_BUILD."""
import json
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
import threading
import time

import px_wire as wire
from px_test import (NOBODY, REAPED, Place, adopt_orphans, become, descendants, kill, kill_descendants, others_can_read,
                     others_can_run, times)
from px_wire import app, array, command, each, flex, info, many, one, proc, signed, string

BUILD = os.environ.get("TENON_BUILD", ".")
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
INNOCENT = os.path.join(BUILD, "test/integration/hostile/hostile_innocent")
HOST = os.path.join(BUILD, "test/integration/hostile/hostile_host")
MB = 1 << 20

# The limits. Waits are those beyond the waits without the attack. A busy machine must not decide on the short form.
P99_S, MAX_S = (0.005, 0.1) if times(0, 1) else (1, 1)
USER_MB = 256               # limit of a user's memory, server_committed_per_user
FEW_MB = 32                 # the same with two users
MORE_MB = 64                # of the server at any time, beyond a user's limit: frames in transit, one message
LEFT_MB = 16                # LEAVES_S after the attacker has gone
LEAVES_S = 2
END_S = 3 if times(0, 1) else 5   # after SIGTERM: the grace of a job, and one second

TURN_ITEMS = 16384          # PX_TURN_ITEMS: work for one process in a turn
LAST_ITEMS = 36864          # of the request with which the turn ends, which is not divided
CALL_ITEMS = 64             # of a call of the innocent client, at most
ROW_ITEMS = 500000          # of a row besides those of its elements

QUIET_S = 0.4               # time without an attack
ATTACK_S = times(5, 60)     # the attack is cut off then
GOING_S = 0.1               # from the attacker's end, which also makes work
START_S = 20
BEFORE_TERM_S = 0.2         # time of the attack before SIGTERM, or before the end of --timeout
TIMEOUT_S = times(3, 10)    # of --timeout, from the start of pmixrun
TIMED_OUT = 124             # exit status then
TRIES = 3                   # of a row with long waits only, which a busy machine may cause


# ---- requests ----------------------------------------------------------------------------------

COMMIT, FENCE, GET, PUBLISH, LOOKUP, UNPUBLISH, SPAWN, JOB_CONTROL = 2, 3, 4, 6, 7, 8, 9, 18
NOTIFY, REGEVENTS, DEREGEVENTS, QUERY, IOF_PUSH, GROUP_CONSTRUCT = 12, 13, 14, 15, 23, 24
RANGE_LOCAL = SCOPE_REMOTE = 2
RANGE_CUSTOM = 6
GROUP_INVITED, GROUP_INVITE_DECLINED = -159, -162
CODE = -3000  # the first of the codes that programs define
NO_INFOS = many([])
EMPTY_INFO = b"\0\0\0"


def codes(n, first=CODE):
    return [signed(first - i) for i in range(n)]


def register(wanted, infos=NO_INFOS):
    return command(REGEVENTS) + many(wanted) + infos


def notify(code, infos=NO_INFOS, reach=RANGE_LOCAL):
    return command(NOTIFY) + one(signed(code)) + one(bytes([reach])) + infos


def about(procs):
    return many([info("pmix.evaffected", wire.DATA_ARRAY, array(wire.PROC, procs))])


def keys(n, first=0):
    return [string("key%06d" % i) for i in range(first, first + n)]


def publish(names, kind=wire.INT, value=signed(1)):
    return command(PUBLISH) + one(flex(os.geteuid())) + many([k + flex(0) + flex(kind) + value for k in names])


def by_keys(op, names, infos=NO_INFOS):
    return command(op) + one(flex(os.geteuid())) + each(names) + infos


def fence(me, infos=NO_INFOS):
    return command(FENCE) + many([proc(me.nspace, 0), proc(me.nspace, me.rank)]) + infos


def construct(name, members, *infos):
    return command(GROUP_CONSTRUCT) + one(string(name)) + many(members) + many(infos)


def members_of(target, n):
    """Returns n names of two members in a mixed order, whose sorting takes most time."""
    return [proc(target.nspace, i * 7919 % n % 2) for i in range(n)]


def procs_info(key, procs):
    return info(key, wire.DATA_ARRAY, array(wire.PROC, procs))


def invitation(code, name, procs):
    return notify(code, many([procs_info("pmix.evrange", procs), info("pmix.grp.id", wire.STRING, string(name)),
                              info("pmix.evnocache", wire.BOOL, b"\1")]), RANGE_CUSTOM)


def spawn(**parts):
    parts = {"argv": [string("true")], "env": (), **parts}
    return command(SPAWN) + NO_INFOS + many([app("true", **parts)])


def variables(n):
    return [string("COST%06d=x" % i) for i in range(n)]


# ---- the rows: functions that queue a client's requests ----------------------------------------

def settled(client):
    """Ends a phase when the server has served all requests so far: it serves a client's requests in order."""
    client.ask(by_keys(LOOKUP, [string("nobody")]), counts=False)
    client.next_phase()


def deregister(client, n):
    many_codes = register(codes(4096))
    for _ in range(4096):
        client.ask(many_codes, counts=False)
    client.next_phase()
    client.ask(command(DEREGEVENTS) + b"".join(map(one, codes(n))), waits=False)
    settled(client)


def event_of_many(client, n):
    """Notifies of 100,000 processes, against n registrations of 1,024."""
    for i in range(n):
        client.ask(register(codes(1), about([proc("a", 1024 * i + j) for j in range(1024)])), counts=False)
    client.next_phase()
    client.ask(notify(CODE, about([proc("b", i) for i in range(100000)])))


def register_with_cache(client, _):
    for i in range(256):
        client.ask(notify(CODE - i), counts=False)
    many_codes = register(codes(4096, CODE - 1000))
    for _ in range(300):
        client.ask(many_codes)


def query(client, n):
    client.ask(command(QUERY) + many([signed(1) + string("pmix.qry.ns") + flex(0)] * n))


def publish_all(client, n):
    client.ask(publish(keys(n)))


def with_entries(client, op, n, first=4096):
    """Publishes as many keys as a user may, and then asks for n keys."""
    client.ask(publish(keys(8192)), counts=False)
    client.next_phase()
    client.ask(by_keys(op, keys(n, first)))


def unpublish_all(client, n):
    with_entries(client, UNPUBLISH, n, 0)


def lookup_all(client, n):
    with_entries(client, LOOKUP, n, 0)


def unpublish(client, n):
    with_entries(client, UNPUBLISH, n)


def lookup(client, n):
    with_entries(client, LOOKUP, n)


def pending_fences(client, n):
    for _ in range(n):
        client.ask(fence(client.target), waits=False)
    settled(client)


def spawn_with_variables(client, n):
    client.ask(spawn(env=variables(n)))


def spawn_setting(client, n):
    one_each = [info("pmix.envar.set", wire.ENVAR, string("COST%06d" % i) + string("x") + b":") for i in range(n)]
    client.ask(spawn(infos=one_each))


def spawn_with_argv(client, n):
    client.ask(spawn(argv=[string("true")] + [string("x")] * (n - 1)))


def spawn_many(client, n):
    client.ask(spawn(maxprocs=n))


def fence_with_infos(client, n):
    for _ in range(3):
        client.ask(fence(client.target, many([EMPTY_INFO] * n)), waits=False)
    settled(client)


def large_events(client, n):
    for _ in range(6):
        client.ask(notify(CODE, many([EMPTY_INFO] * n)))


def pushes(client, n):
    target = many([proc(client.target.nspace, client.target.rank)])
    for _ in range(n):
        client.ask(command(IOF_PUSH) + target + NO_INFOS + one(flex(1) + b"x"), waits=False)
    settled(client)


def waiting_lookups(client, n):
    wait = many([info("pmix.wait", wire.INT, signed(0))])
    for _ in range(n):
        client.ask(by_keys(LOOKUP, [string("never")], wait), waits=False)
    settled(client)


def gets(client, n):
    for i in range(n):
        client.ask(command(GET) + one(string(client.target.nspace)) + one(flex(client.target.rank)) + NO_INFOS +
                   one(string("key%06d" % i)), waits=False)
    settled(client)


def commits(client, n):
    """Commits n values of a megabyte."""
    for i in range(n):
        values = wire.kval("key%d" % i, wire.BYTES, flex(MB) + bytes(MB))
        client.ask(command(COMMIT) + wire.section(SCOPE_REMOTE, values))


def commit_small(client, n):
    """Commits n small values at once."""
    values = b"".join(wire.kval("key%06d" % i, wire.INT, signed(1)) for i in range(n))
    client.ask(command(COMMIT) + wire.section(SCOPE_REMOTE, values))


def publish_bytes(client, n):
    """Publishes n values of a megabyte."""
    for key in keys(n):
        client.ask(publish([key], wire.BYTES, flex(MB) + bytes(MB)))


def clean_up(client, n):
    """Registers n files for clean-up, deep in folders."""
    paths = ",".join("/usr/share/doc/libc6/none/%06d" % i for i in range(n))
    client.ask(command(JOB_CONTROL) + many([]) + many([info("pmix.reg.cleanup", wire.STRING, string(paths))]))


def groups(client, n):
    """Constructs n groups of the attacker alone."""
    for i in range(n):
        client.ask(construct("g%d" % i, [proc(client.target.nspace, client.target.rank)]))


def pending_groups(client, n):
    for i in range(n):
        client.ask(construct("g%d" % i, members_of(client.target, 2)), waits=False)
    settled(client)


def groups_with(client, n, key=None):
    """Begins constructions with n names of members each, as participants or under a key."""
    members = members_of(client.target, n)
    for i in range(20):
        named = members_of(client.target, 2) if key else members
        client.ask(construct("g%d" % i, named, *([procs_info(key, members)] if key else [])), waits=False)
    settled(client)


def groups_adding(client, n):
    groups_with(client, n, "pmix.grp.add")


def groups_in_order(client, n):
    groups_with(client, n, "pmix.grp.finord")


def queries_of_groups(client, n):
    groups(client, 1000)
    client.next_phase()
    for _ in range(n):
        client.ask(command(QUERY) + many([signed(1) + string("pmix.qry.pgrp") + flex(0)]))


def invitations(client, n):
    for i in range(n):
        client.ask(invitation(GROUP_INVITED, "g%d" % i, [proc(client.target.nspace, 9)]))


def large_invitations(client, n):
    """Invites n processes to each of 40 groups. Then the attacker declines often."""
    invited = [proc(client.target.nspace, 9 + i) for i in range(n)]
    for i in range(40):
        client.ask(invitation(GROUP_INVITED, "g%d" % i, invited))
    client.next_phase()
    for _ in range(500):
        client.ask(invitation(GROUP_INVITE_DECLINED, "none", [proc(client.target.nspace, client.target.rank)]))


def calls(client, n):
    """Requests of each kind but spawn, as programs send them, far below all limits."""
    for _ in range(n):
        client.ask(register(codes(10)))
        client.ask(notify(CODE, about([proc(client.target.nspace, 0)] * 10)))
        client.ask(command(DEREGEVENTS) + b"".join(map(one, codes(10))), waits=False)
        client.ask(publish(keys(10)))
        client.ask(by_keys(LOOKUP, keys(10)))
        client.ask(by_keys(UNPUBLISH, keys(10)))
        client.ask(command(QUERY) + many([signed(1) + string("pmix.qry.ns") + flex(0)]))
        client.ask(command(COMMIT) + wire.section(SCOPE_REMOTE, wire.kval("key", wire.INT, signed(1))))
        client.next_phase()


def usual(client, n):
    calls(client, n)
    client.ask(spawn(env=variables(50)))
    client.next_phase()


REFUSED, FORBIDDEN = {wire.OUT_OF_RESOURCE}, {-23}
DONE = {wire.SUCCESS}
EITHER = DONE | REFUSED
PARTIAL, NOT_SUPPORTED = -52, -47

# Name: function, its number, the documented statuses, true if SIGTERM and --timeout come amid the attack in the short
# form, too, and items of work for each of the number. The long form ends each row so.
ROWS = {
    "calls": (calls, 50, DONE, False, 0),
    "usual": (usual, 50, DONE, True, 0),
    "gets-100000": (gets, 100000, EITHER, True, 40),
    "deregister-4000": (deregister, 4000, DONE, True, 150),
    "deregister-2000": (deregister, 2000, DONE, False, 150),
    "event-of-100000": (event_of_many, 200, EITHER, True, 5000),
    "register-cached": (register_with_cache, 0, EITHER, True, 0),
    "query-1000000": (query, 1000000, REFUSED, True, 0),
    "query-300000": (query, 300000, REFUSED, False, 0),
    "publish-20000": (publish_all, 20000, REFUSED, True, 0),
    "publish-8192": (publish_all, 8192, DONE, False, 0),
    "unpublish-8192": (unpublish_all, 8192, DONE, False, 0),
    "lookup-8192": (lookup_all, 8192, DONE, False, 0),
    "unpublish-65536": (unpublish, 65536, EITHER, True, 0),
    "lookup-65536": (lookup, 65536, EITHER | {PARTIAL}, True, 0),
    "fences-80000": (pending_fences, 80000, EITHER, True, 40),
    "fences-12000": (pending_fences, 12000, EITHER, False, 40),
    "spawn-variables-200000": (spawn_with_variables, 200000, REFUSED, True, 0),
    "spawn-variables-20000": (spawn_with_variables, 20000, EITHER, False, 0),
    "spawn-set-20000": (spawn_setting, 20000, EITHER, True, 0),
    "spawn-argv-1000000": (spawn_with_argv, 1000000, REFUSED, True, 0),
    "spawn-400": (spawn_many, 400, EITHER, True, 0),
    "fence-infos-900000": (fence_with_infos, 900000, REFUSED, True, 0),
    "events-900000": (large_events, 900000, REFUSED, True, 0),
    "events-2048": (large_events, 2048, DONE, False, 20),  # six events, and 50 registrations of another user
    "pushes-200000": (pushes, times(200000, 1200000), REFUSED | {NOT_SUPPORTED}, True, 75),
    "lookups-waiting-200000": (waiting_lookups, times(200000, 1200000), EITHER, True, 80),
    "commits-100": (commits, 100, DONE, False, 8400),
    "commit-100000": (commit_small, 100000, DONE, True, 70),
    "commits-300": (commits, 300, EITHER, True, 8400),
    "publish-bytes-100": (publish_bytes, 100, EITHER, True, 12600),
    "clean-up-4096": (clean_up, 4096, DONE, True, 1100),
    "clean-up-16384": (clean_up, 16384, REFUSED, True, 1100),
    "groups-3000": (groups, 3000, EITHER, True, 700),
    "groups-pending-60000": (pending_groups, 60000, EITHER, True, 600),
    "groups-of-60000": (groups_with, 60000, REFUSED, True, 100),
    "groups-adding-60000": (groups_adding, 60000, REFUSED, True, 100),
    "groups-ordered-60000": (groups_in_order, 60000, REFUSED, True, 100),
    "groups-of-4096": (groups_with, 4096, EITHER, False, 100),
    "groups-adding-4096": (groups_adding, 4096, EITHER, False, 100),
    "groups-ordered-4096": (groups_in_order, 4096, EITHER, False, 100),
    "groups-queried-300": (queries_of_groups, 300, EITHER, True, 21000),
    "invitations-20000": (invitations, 20000, EITHER, True, 150),
    "invitations-of-1000": (large_invitations, 1000, EITHER, True, 300),
}
KEEPS = {"commits-100", "commit-100000", "commits-300", "publish-bytes-100"}  # data that stay until the job ends
WAITED_FOR = {"clean-up-4096"}  # the janitor removes the attacker's files after the attacker's end, also without a server
# Rows of the short form with --timeout. The long form has all.
WITH_TIMEOUT = {"usual", "register-cached", "lookup-65536", "events-900000"}

# Rows with two users: the statuses of the attacker, which all must appear. These are rows about what a user may keep.
USERS = {
    "calls": DONE,
    "gets-100000": REFUSED,
    "register-cached": EITHER,
    "events-900000": REFUSED,
    "events-2048": DONE,
    "publish-20000": REFUSED,
    "publish-8192": DONE,
    "publish-bytes-100": EITHER,
    "commits-100": EITHER,
    "query-300000": REFUSED,
    "fences-12000": REFUSED,
    "lookups-waiting-200000": REFUSED,
    "pushes-200000": REFUSED | {wire.NOT_FOUND},
    "spawn-variables-20000": FORBIDDEN,
    "spawn-400": FORBIDDEN,
}


# Rows that take a fifth of their number in the short form with one user, which a slow build has to finish in time.
LARGE = {"gets-100000", "fences-80000", "spawn-400", "pushes-200000", "lookups-waiting-200000"}


def number_of(name, is_short):
    return ROWS[name][1] // 5 if is_short and name in LARGE else ROWS[name][1]


def limit_of(name):
    """Returns the seconds of --timeout. The attacker takes longest to make more than a million requests."""
    return TIMEOUT_S * (4 if ROWS[name][1] > 1000000 else 1)


def most_items(name, is_short):
    return ROW_ITEMS + number_of(name, is_short) * ROWS[name][4]


# ---- the attacker ------------------------------------------------------------------------------

def attack(name, number, path):
    """Reports "ready", sends the row after a line of input, and reports the statuses."""
    function = ROWS[name][0]
    client = wire.Client(wire.Target(wire.environment(path)))
    function(client, int(number))
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.monotonic()
    done = client.run(begin + ATTACK_S)
    print(json.dumps({"seconds": time.monotonic() - begin, "done": done, "lost": client.lost,
                      "statuses": list(client.statuses.items())}), flush=True)
    sys.stdin.readline()


class Attacker:
    def __init__(self, name, number, environment, uid=0):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--attack", name, str(number), environment],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **become(uid))
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the attacker cannot begin")

    def start(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def report(self):
        """Waits for the attacker's report; {} if the attack is cut off."""
        timer = threading.Timer(ATTACK_S + 1, self.end)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        return json.loads(line) if line else {}

    def end(self):
        kill(self.process.pid)


# ---- the server and the innocent client --------------------------------------------------------

class Job(Place):
    """A server with an innocent client, and a rank whose environment the attacker takes."""
    user_mb, uid = USER_MB, 0  # limit of a user; the attacker
    allowed = {name: row[2] for name, row in ROWS.items()}
    has_ends = True

    def __init__(self, is_short, *options):
        super().__init__(PMIX_MCA_server_committed_per_user="%dm" % self.user_mb, PMIX_MCA_mca_base_verbose="info")
        self.waits, self.environment, self.log = (
            os.path.join(self.dir, name) for name in ("waits", "environment", "log"))
        self.attacker, self.is_short, self.begin = None, is_short, time.monotonic()
        try:
            with open(self.log, "w") as log:
                self.server = self.start(options, log)
            self.await_calls()
        except BaseException:
            self.end()
            raise

    def start(self, options, log):
        return subprocess.Popen(
            [PMIXRUN, *options, "-n", "1", INNOCENT, self.waits, ":", "-n", "1", "sh", "-c",
             'cat /proc/$$/environ >"$0.new" && mv "$0.new" "$0" && exec sleep 300', self.environment],
            env=self.env, cwd="/", stdin=subprocess.DEVNULL, stderr=log)

    def stop(self):
        kill(self.server.pid, signal.SIGTERM)

    def await_calls(self):
        deadline = time.monotonic() + START_S
        while len(self.calls()) < 10 or not os.path.exists(self.environment):
            if time.monotonic() > deadline or self.server.poll() is not None:
                raise RuntimeError("the job does not start")
            time.sleep(0.01)

    def attack(self, name):
        self.name = name
        self.attacker = Attacker(name, number_of(name, self.is_short), self.environment, self.uid)

    def others(self):
        """Returns the statuses of another user's calls, amid what the attacker keeps; {} without such a user."""
        return {}

    def calls(self):
        """Returns [(begin, seconds)] of the innocent client's calls; the last one may not have returned."""
        try:
            with open(self.waits, "rb") as f:
                data = f.read()
        except FileNotFoundError:
            return []
        now = time.monotonic()
        return [(begin / 1e9, (end / 1e9 if end else now) - begin / 1e9)
                for begin, end in struct.iter_unpack("=qq", data[:len(data) // 16 * 16])]

    def waits_of(self, begin, end):
        """Returns the 50th and 99th percentile and the maximum of calls that overlap this time."""
        found = sorted(wait for at, wait in self.calls() if at + wait >= begin and at < end)
        return (statistics.median(found), found[len(found) * 99 // 100], found[-1]) if found else (0, 0, 0)

    def is_served(self):
        """Waits until the innocent client begins a further call. Returns false after ATTACK_S."""
        now = time.monotonic()
        while time.monotonic() < now + ATTACK_S:
            if self.calls()[-1][0] > now:
                return True
            time.sleep(0.02)
        return False

    def memory(self, what):
        with open("/proc/%d/status" % self.server.pid) as f:
            return int(re.search(what + r":\s+(\d+) kB", f.read()).group(1)) / 1024

    def forget_peak(self):
        with open("/proc/%d/clear_refs" % self.server.pid, "w") as f:
            f.write("5")

    def left(self, before):
        """Returns the memory that is left after LEAVES_S, or earlier if it is within the limit."""
        deadline = time.monotonic() + LEAVES_S
        while True:
            left = self.memory("VmRSS") - before
            if left <= LEFT_MB or time.monotonic() > deadline:
                return left
            time.sleep(0.05)

    def time_to_end(self, begin):
        """Returns the time from begin until all processes are gone, or END_S and more."""
        limit = begin + max(END_S * 2, times(0, 60))
        while time.monotonic() < limit:
            if not [pid for pid, _ in descendants() if pid != self.attacker.process.pid]:
                break
            if self.name in WAITED_FOR and self.server.pid in REAPED:
                self.attacker.end()
            time.sleep(0.02)
        return time.monotonic() - begin

    def items(self):
        """Returns the items of work that the ended server has counted: in all, and most in one turn."""
        with open(self.log) as f:
            found = re.search(r"work for peers: (\d+) items, at most (\d+) for one in a turn", f.read())
        return (int(found.group(1)), int(found.group(2))) if found else (0, 0)

    def end(self):
        """Kills all descendants, and removes all files."""
        kill_descendants(500)
        self.remove()


class UsersJob(Job):
    """A server of root with the jobs of two users: the innocent client's, and the attacker's."""
    user_mb, uid = FEW_MB, NOBODY
    allowed, has_ends = USERS, False
    other = NOBODY + 1

    def start(self, options, log):
        os.chmod(self.dir, 0o1777)
        self.of_other = self.environment + ".other"
        server = subprocess.Popen([HOST, "a:%d:1:%s" % (self.other, self.of_other),
                                   "b:%d:2:%s" % (self.uid, self.environment)],
                                  env=self.env, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        if server.stdout.readline() == b"ready\n":
            subprocess.Popen([INNOCENT, self.waits], env={**self.env, **wire.environment(self.of_other)}, cwd="/",
                             stderr=log, **become(self.other))
        return server

    def stop(self):
        self.server.stdin.close()

    def others(self):
        one_more = Attacker("calls", ROWS["calls"][1], self.of_other, self.other)
        one_more.start()
        statuses = one_more.report().get("statuses", [])
        one_more.end()
        return dict(statuses) or {None: 0}


# ---- measuring ---------------------------------------------------------------------------------

def measure(job, name):
    """Runs the row; returns its figures."""
    job.attack(name)
    quiet_from = time.monotonic()
    time.sleep(QUIET_S)
    begin = time.monotonic()
    before = job.memory("VmRSS")
    job.forget_peak()
    job.attacker.start()
    report = job.attacker.report()
    served = job.is_served()
    time.sleep(max(0, begin + QUIET_S - time.monotonic()))
    end = time.monotonic()
    growth = job.memory("VmHWM") - before
    others = job.others()
    job.attacker.end()
    gone = time.monotonic()
    left = 0 if name in KEEPS else job.left(before)
    time.sleep(max(0, gone + GOING_S - time.monotonic()))
    median, p99, longest = job.waits_of(begin, end)
    longest = max(longest, job.waits_of(end, time.monotonic())[2])
    quiet = job.waits_of(quiet_from, begin)
    n_calls = len(job.calls())
    job.stop()
    job.time_to_end(time.monotonic())
    total, most = job.items()
    return {"quiet": quiet, "attack": (median, p99, longest), "served": served, "growth": growth, "left": left,
            "report": report, "others": others, "items": max(0, total - CALL_ITEMS * n_calls), "most": most,
            "allowed": most_items(name, job.is_short)}


def terminate(job, name):
    """Returns the time from a SIGTERM amid the attack to the end of all processes."""
    job.attack(name)
    job.attacker.start()
    time.sleep(BEFORE_TERM_S)
    job.stop()
    return job.time_to_end(time.monotonic())


def time_out(job, name):
    """Returns the time from the end of --timeout amid the attack to the end of all processes; 0: the machine is too busy
    for an attack before the end."""
    job.attack(name)
    wait = job.begin + limit_of(name) - BEFORE_TERM_S - time.monotonic()
    if wait < 0:
        return 0
    time.sleep(wait)
    job.attacker.start()
    taken, status = job.time_to_end(job.begin + limit_of(name)), REAPED.get(job.server.pid)
    if status not in (None, TIMED_OUT):
        raise RuntimeError("the exit status is %d" % status)
    return taken


WAITS = ("p99 of the waits", "maximum of the waits")


def breaches(kind, name, found):
    """Describes all breaches of the limits."""
    allowed, growth = kind.allowed[name], kind.user_mb + MORE_MB
    statuses = dict(found["report"].get("statuses", []))
    return [text for broken, text in (
        (not found["report"].get("done"), "the attack is not served in %d s" % ATTACK_S),
        (not found["served"], "the innocent client is not served"),
        (found["attack"][1] - found["quiet"][1] > P99_S, WAITS[0]),
        (found["attack"][2] - found["quiet"][2] > MAX_S, WAITS[1]),
        (found["most"] > TURN_ITEMS + LAST_ITEMS, "more than %d items in a turn" % (TURN_ITEMS + LAST_ITEMS)),
        (not found["most"], "no items are counted"),
        (found["items"] > found["allowed"], "more than %d items" % found["allowed"]),
        (found["growth"] > growth, "memory above %d MB" % growth),
        (found["left"] > LEFT_MB, "more than %d MB left" % LEFT_MB),
        (not set(statuses) <= allowed, "statuses other than %s" % sorted(allowed)),
        (kind is UsersJob and set(statuses) != allowed, "not each of these statuses: %s" % sorted(allowed)),
        (kind is UsersJob and set(found["others"]) != DONE, "the other user gets %s" % found["others"]),
        (found["end"] > END_S, "SIGTERM takes longer than %d s" % END_S),
        (found["late"] > END_S, "the end after --timeout takes longer than %d s" % END_S)) if broken]


def play(kind, scene, name, is_short, *options):
    job = kind(is_short, *options)
    try:
        return scene(job, name)
    finally:
        job.end()


def run(kind, name, is_short):
    """Runs all scenes of a row, and prints its line; returns the breaches."""
    ends = kind.has_ends and (ROWS[name][3] or times(0, 1))
    found = {**play(kind, measure, name, is_short), "end": play(kind, terminate, name, is_short) if ends else 0,
             "late": play(kind, time_out, name, is_short, "--timeout", str(limit_of(name)))
                     if ends and (name in WITH_TIMEOUT or times(0, 1)) else 0}
    print("%-24s %s | %s | memory +%.0f MB, left %.0f MB | items %d, in a turn %d | statuses %s in %s s | "
          "SIGTERM %s s | --timeout %s s" % (
        name, waits(found["quiet"]), waits(found["attack"]), found["growth"], found["left"], found["items"],
        found["most"],
        ", ".join("%d: %d" % tuple(s) for s in found["report"].get("statuses", [])) or "none",
        "%.2f" % found["report"]["seconds"] if found["report"] else "?",
        *("%.2f" % found[end] if found[end] else "-" for end in ("end", "late"))), flush=True)
    return breaches(kind, name, found)


def waits(three):
    return "p50 %.2f p99 %.2f max %.2f ms" % tuple(1000 * w for w in three)


def main(args):
    if args[:1] == ["--attack"]:
        return attack(*args[1:])
    if args == ["-l"]:
        return print("\n".join(ROWS))
    only_reports, kind = "-n" in args, UsersJob if "-u" in args else Job
    if kind is UsersJob and (os.geteuid() != 0 or not others_can_run(sys.executable, INNOCENT) or
                             not others_can_read(os.path.abspath(__file__), wire.__file__)):
        print("needs root, and files that other users can read")
        return 77
    rows = [a for a in args if a[0] != "-" and not ("-s" in args and times(0, 1))] or list(kind.allowed)
    adopt_orphans()
    failed, is_short = 0, kind is Job and not only_reports and not times(0, 1)
    print("row: waits without the attack | with the attack | the server's memory | its work | the attacker | the end")
    for name in rows:
        for _ in range(1 if only_reports else TRIES):
            found = run(kind, name, is_short)
            if not found or not set(found) <= set(WAITS):
                break
        for breach in found:
            failed += 1
            print("    %s: %s" % (name, breach), flush=True)
    return 1 if failed and not only_reports else 0


if __name__ == "__main__":
    if not os.path.exists("/proc/self/exe"):
        print("needs /proc")
        sys.exit(77)
    sys.exit(main(sys.argv[1:]))
