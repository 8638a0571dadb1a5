#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a server whose processes exchange data. Each of N processes commits 100 KB for all others; a fence collects the data;
some processes get the data of others. The server's memory grows by at most twice the size of the data, and the server returns the
memory after the end of the job. In another scene the data goes to other nodes, too: the host then has a copy, and returns another.
meson sets TENON_BUILD."""
import os
import re
import resource
import struct
import subprocess
import sys
import time

import px_wire as wire
from px_test import Place, times
from px_wire import command, info, many, one, proc, section, string

BUILD = os.environ["TENON_BUILD"]
HOST = os.path.join(BUILD, "test/integration/hostile/hostile_host")
COMMIT, FENCE, GET = 2, 3, 4
GLOBAL = 3
MB = 1 << 20

N = times(64, 1000)
SIZE = 100 * 1000
SPARE_MB = 4       # besides twice the data: connections, messages in transit
READERS = 8        # processes that get the data of others
LEFT_MB = 16       # LEAVES_S after the end of the job
LEAVES_S = 5


def data_of(rank):
    return struct.pack(">I", rank) * (SIZE // 4)


def memory(pid, what):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(what + r":\s+(\d+) kB", f.read()).group(1)) / 1024


def left(pid, before):
    """Returns the memory in MB that is left after LEAVES_S, or earlier if it is within the limit."""
    deadline = time.monotonic() + LEAVES_S
    while True:
        found = memory(pid, "VmRSS") - before
        if found <= LEFT_MB or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def exchange(pid, target, stores):
    """Returns the growth of the server's memory in MB."""
    ranks = [wire.Caller(target, rank=r, gds=stores) for r in range(N)]
    before = memory(pid, "VmRSS")
    with open("/proc/%d/clear_refs" % pid, "w") as f:
        f.write("5")
    for r, rank in enumerate(ranks):
        values = wire.kval("key", wire.BYTES, wire.flex(SIZE) + data_of(r))
        check(rank.call(command(COMMIT) + section(GLOBAL, values)), "commit of rank %d" % r)
    for rank in ranks:
        rank.send(command(FENCE) + many([proc(target.nspace, wire.WILDCARD)]) +
                  many([info("pmix.collect", wire.BOOL, b"\1")]))
    for r, rank in enumerate(ranks):
        check(rank.reply(), "fence of rank %d" % r)
    for r in range(READERS if stores == b"hash" else 0): # others read in place
        other = (r * 7 + 1) % N
        reply = ranks[r].call(command(GET) + one(string(target.nspace)) + one(wire.flex(other)) + many([]) + one(string("key")))
        check(reply, "get of rank %d" % r)
        if data_of(other) not in reply:
            sys.exit("rank %d gets other data of rank %d" % (r, other))
    return memory(pid, "VmHWM") - before


def check(reply, what):
    if wire.read_status(reply) != wire.SUCCESS:
        sys.exit("%s: %d" % (what, wire.read_status(reply)))


def run(options, stores):
    place = Place()
    path = os.path.join(place.dir, "environment")
    server = subprocess.Popen([HOST, *options, "job:%d:%d:%s" % (os.geteuid(), N, path)], env=place.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if server.stdout.readline() != b"ready\n":
            sys.exit("the server does not start")
        before = memory(server.pid, "VmRSS")
        growth = exchange(server.pid, wire.Target(wire.environment(path)), stores)
        server.stdin.write(b"d")
        server.stdin.flush()
        if server.stdout.readline() != b"gone\n":
            sys.exit("the server does not end the job")
        return growth, left(server.pid, before)
    finally:
        server.stdin.close()
        server.wait()
        place.remove()


def main():
    failed = False
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for where, options, most in (("one node", [], 2), ("two nodes", ["-f"], 4)):
        limit = most * N * SIZE / MB + SPARE_MB
        for stores in (b"hash", b"shm"):
            growth, rest = run(options, stores)
            print("%s, %s: %d x %d KB, memory +%.1f MB, %.2f x the data; at most %.1f MB; left %.1f MB" % (
                where, stores.decode(), N, SIZE // 1000, growth, growth * MB / (N * SIZE), limit, rest), flush=True)
            failed |= growth > limit or rest > LEFT_MB
    return 1 if failed else 0


if __name__ == "__main__":
    if not os.path.exists("/proc/self/clear_refs"):
        print("needs /proc")
        sys.exit(77)
    sys.exit(main())
