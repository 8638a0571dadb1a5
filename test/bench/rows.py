# SPDX-License-Identifier: BSD-3-Clause
"""The rows of contrib/bench.sh: scene of datapath.c, sizes, floor, and limits."""
import collections

# target: {x: limit}; ALL: the limit for every x. A limit is a number, or a multiple such as "1.2 floor", "1.2 base" or
# "1.2 ROW/X". A pair (number, time of OpenPMIx on the machine where the number was set) scales with the present time of
# OpenPMIx on a slower machine. A pair whose third item is "floor" scales with the floor. p99: limit of the 99th percentile.
# floor: (scene of floor.c, its row, true if measured at the row's x).
Row = collections.namedtuple("Row", "name scene xs unit what target floor each p99")
ALL = None
ALONE = {"threads", "flood", "big", "table"}  # scenes in which x is not the number of clients
LOOKUP, TRIP, COPY = ("get", "lookup", True), ("trip", "trip", False), ("copy", "memcpy64k", False)
CONNECT, EPOLL = ("connect", "connect", False), ("fence", "epoll", True)
FUTEX = ("futex", "futex", True)  # of what clients on one node can do by shared memory
SPAWN = ("spawn", "spawn", True)
NP = (1, 2, 4, 16, 32, 64, 128)
GET = (1, 2, 16, 128)
BIG = (100000, 1000000)


def found_in(most):
    """Returns the target of a row that searches: microseconds where a look-up of the floor takes 0.0285."""
    return {ALL: (most, .0285, "floor")}


def row(name, scene, xs, what, target=None, floor=None, unit="us", each=False):
    return Row(name, scene, xs, unit, what, target or {}, floor, each, 1 if target == found_in(.2) and scene == "get" else 0)


ROWS = [
    row("get.job", "get", GET, "a value of the job", found_in(.2), LOOKUP),
    row("get.own", "get", GET, "an own value", found_in(.2), LOOKUP),
    row("get.peer", "get", GET, "a peer's value after a collecting fence", found_in(.2), LOOKUP),
    row("get.local", "get", GET, "a peer's local rank", found_in(.2), LOOKUP),
    row("get.hostname", "get", GET, "a peer's host name", found_in(.2), LOOKUP),
    row("get.node", "get", GET, "a value of the node", found_in(.2), LOOKUP),
    row("get.app", "get", GET, "a value of the application", found_in(.2), LOOKUP),
    row("get.session", "get", GET, "a value of the session", found_in(.2), LOOKUP),
    row("get.kept", "get", GET, "a value that the process has stored for itself", found_in(.5), LOOKUP),
    row("get.threads", "threads", (1, 2, 4), "a peer's value in so many threads of two clients", found_in(.2), LOOKUP),
    row("get.first", "first", (2, 16, 128), "the first value of each peer", found_in(.5), LOOKUP),
    row("get.optional", "get", GET, "a missing value, PMIX_OPTIONAL", found_in(.3), LOOKUP),
    row("get.immediate", "get", GET, "a missing value, PMIX_IMMEDIATE", {1: "1.84 floor", 2: "1.84 floor"}, TRIP),
    row("flood", "flood", (2000, 100000), "so many outstanding gets of one peer", {ALL: "1.2 base"}),
    row("put.64", "put", (1, 16, 128), "PMIx_Put of 64 bytes", found_in(.3), LOOKUP),
    row("put.64k", "put", (1, 16, 128), "PMIx_Put of 64 KiB", {}, COPY),
    row("commit.64", "put", (1, 16, 128), "PMIx_Commit of 64 bytes", {1: 10}, TRIP),
    row("commit.64k", "put", (1, 16, 128), "PMIx_Commit of 64 KiB", {1: 30}, COPY),
    row("init", "start", NP, "PMIx_Init of each of so many", {1: (600, 15700)}, CONNECT),
    row("start", "start", NP, "from spawn to all initialised, per process",
        {ALL: 1000, 16: (1000, 3300), 64: (1000, 2400), 128: (1000, 2300)}, SPAWN, each=True),
    row("finalize", "start", NP, "PMIx_Finalize of all at once", {32: (2000, 4000), 128: (15000, 33000)}),
    row("cycle", "cycle", (1,), "PMIx_Init and PMIx_Finalize again", {ALL: (400, 3000)}, CONNECT),
    row("memory", "start", NP, "memory that PMIx_Init writes to", {ALL: 100}, unit="KiB"),
    row("register.nspace", "register", NP, "PMIx_server_register_nspace", {128: 300}),
    row("register.clients", "register", NP, "PMIx_server_register_client of all; the median of 51 jobs",
        {128: (100, 2550)}),
    row("register.awaited", "register", NP, "the same with callbacks, each awaited before the next"),
    row("register.together", "register", NP, "the same with callbacks, awaited together"),
    row("server.init", "start", (1,), "PMIx_server_init"),
    row("server.finalize", "start", (1, 16, 128), "PMIx_server_finalize", {ALL: (400, 550)}),
    row("fence.empty", "fence", NP[1:], "PMIx_Fence without data", {ALL: "1.2 floor"}, EPOLL),
    row("fence.16k", "fence16k", NP[2:], "PMIx_Fence that collects 16 KiB of each",
        {16: (500, 2300), 64: (2500, 14000)}, FUTEX),
    row("modex.collect", "modex", NP[1:], "put 1 KiB, commit, fence that collects, get of all",
        {16: (700, 4300), 64: (4000, 30000), 128: (10000, 174000)}, FUTEX),
    row("modex.direct", "direct", NP[1:], "put 1 KiB, commit, fence, get of all",
        {16: (2000, 6200), 128: (30000, 287000)}, FUTEX),
    row("group.fence", "group", NP[1:], "PMIx_Fence that collects 64 bytes of each", {}, FUTEX),
    row("group", "group", NP[1:], "PMIx_Group_construct of all", {128: "1.2 group.fence/128"}, FUTEX),
    row("event.burst", "event", (2, 16, 128), "a burst of 200 events, per delivery; the median of seven bursts", {2: (4, 38.7), 16: (2, 18.8)}),
    row("event.blocking", "event", (2, 16), "the same by calls that block", {}),
    row("event.first", "event", (2, 16), "the first PMIx_Register_event_handler of a process", {}),
    row("trip.publish", "trip", (1, 16, 128), "PMIx_Publish", {1: "2.1 floor"}, TRIP),
    row("trip.lookup", "trip", (1, 16, 128), "PMIx_Lookup", {1: "2.1 floor"}, TRIP),
    row("trip.query", "trip", (1, 16, 128), "PMIx_Query_info", {1: "2.1 floor"}, TRIP),
    row("trip.control", "trip", (1, 16, 128), "PMIx_Job_control", {1: "2.1 floor"}, TRIP),
    row("trip.log", "log", (1,), "PMIx_Log", {1: "2.1 floor"}, TRIP),
    row("trip.connect", "connect", (2, 16, 128), "PMIx_Connect, PMIx_Disconnect, of all", {2: "1.2 floor"}, EPOLL),
    row("big.register", "big", BIG, "PMIx_server_register_nspace of so many ranks", {BIG[0]: 1000, BIG[1]: 15000}),
    row("big.server", "big", BIG, "memory that adds to the server", {BIG[0]: 1024, BIG[1]: 10240}, unit="KiB"),
    row("big.init", "big", BIG, "PMIx_Init in such a job", {ALL: "1.2 init/2"}, CONNECT),
    row("big.memory", "big", BIG, "memory that it writes to", {ALL: 100}, unit="KiB"),
    row("big.first", "big", BIG, "the first value of a remote rank", found_in(.5), LOOKUP),
    row("big.hostname", "big", BIG, "its host name", found_in(.2), LOOKUP),
    row("big.local", "big", BIG, "its local rank", found_in(.2), LOOKUP),
    row("big.peers", "big", BIG, "PMIx_Resolve_peers", {ALL: 3}),
    row("big.nodes", "big", BIG, "PMIx_Resolve_nodes", {ALL: 3}),
    row("query.first", "table", BIG[:1], "the first query of the table of so many processes", {ALL: 50000}),
    row("query.table", "table", BIG[:1], "a later one", {ALL: 50000}),
    row("maps.regex", "maps", (1000, 100000), "PMIx_generate_regex of so many nodes", {100000: 10000}),
    *(row("maps.ppn." + layout, "maps", (1000, 100000), "PMIx_generate_ppn, " + layout, {100000: 10000})
      for layout in ("block", "cyclic", "irregular")),
    *(row("maps.register." + layout, "parse", (1000, 10000), "PMIx_server_register_nspace, " + layout, {10000: 1000})
      for layout in ("block", "cyclic", "irregular")),
    row("codec.bo64k", "codec", (1,), "unpack a byte object of 64 KiB", {ALL: (1.3, 1.6)}, COPY),
    row("codec.xfer", "codec", (1,), "PMIx_Info_xfer", {ALL: (.04, .065)}),
    *(row("codec.%s.%s" % (call, how), "codec", (1,), "%s 100,000 infos, %s" % (call, text))
      for call in ("pack", "unpack") for how, text in (("one", "one call"), ("each", "a call each"))),
    row("codec.bytes.one", "codec", (1,), "their size", {ALL: "1 base"}, unit="KiB"),
]
