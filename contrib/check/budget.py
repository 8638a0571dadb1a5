#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the lines of each room beside its plan and its purpose. Fails for a folder without a row, and
for a room that exceeds its plan by more than 30 %: such a room needs a new plan, or two rooms."""
import os

import common

SLACK = 130  # percent of the plan
# (planned raw lines of .c, .h and .def files, purpose, folders). A file counts for the longest
# matching folder.
ROOMS = (
    (6500, "public headers, component interface", "include"),
    (2300, "stateless helpers over libc, maps that move over many puts", "core/base"),
    (1500, "the system beside POSIX", "core/os"),
    (3500, "removes what dead processes left", "core/reclaim"),
    (7500, "public types by table, bytes to types and back", "core/types", "core/wire"),
    (2100, "loop, calls, children, log", "core/rt"),
    (1000, "begin and end of roles", "core/role"),
    (2000, "parameters and their sources", "core/config"),
    (2000, "loader, trials and choice of components", "core/plugin"),
    (1000, "topology of the node", "core/topo"),
    (5600, "namespaces, stores, maps, look-up", "core/model"),
    (2000, "framed connections, requests by tag", "core/link"),
    (1000, "events of all roles", "core/notify"),
    (2000, "forwarded output: lines, formats, ends", "core/iof"),
    (1500, "receivers of forwarded output", "core/iof/receivers"),
    (6500, "API families, connections, tools", "core/client", "core/tool"),
    (2000, "parts, init, registration", "core/server"),
    (1500, "queries", "core/server/query"),
    (1300, "peers, dispatch, authority, times of processes", "core/server/peer"),
    (1500, "the host's module, calls of it, control without it", "core/server/upcall"),
    (1000, "services where the host has no function", "core/server/service"),
    (2000, "listeners, handshake, rendezvous, tools of other machines", "core/server/door"),
    (2000, "commit, get, modex, memory", "core/server/data"),
    (2800, "fence, connect, disconnect, groups", "core/server/collective"),
    (1000, "namespaces of connected processes and groups", "core/server/nspaces"),
    (3000, "events, over several turns, and forwarded streams of clients", "core/server/event",
     "core/server/iof"),
    (2000, "monitors: heartbeats, files, usage", "core/server/monitor"),
    (2500, "contributions of fabric components to a launch", "core/server/fabric"),
    (1500, "process sets, environment, attributes, topology", "core/server/node"),
    (3000, "registry of things to remove", "core/server/cleanup"),
    (5000, "the built-in host: jobs, control, allocations", "core/host"),
    (1500, "published data and lookups, over several turns", "core/host/pubs"),
    (1500, "attributes and plan of a spawn", "core/host/request"),
    (1000, "programs that speak PMI-1 or PMI-2", "core/host/pmi"),
    (500, "input of processes", "core/host/streams"),
    (500, "debugger stops, states, stacks", "core/host/debug"),
    (500, "files of a job", "core/host/files"),
    (1000, "placement of processes", "core/host/place"),
    (8000, "all components", "components"),
    (7500, "pmixrun with times and usage of ranks, pmix_info", "contrib/tools"),
    (3000, "programs that ask a server: options and output by tables", "contrib/tools/query"),
    (1000, "command lines of other launchers, as tables", "contrib/tools/names"),
    (2000, "jobs over several nodes, by srun or flux run", "contrib/tools/engine"),
)
TREES = ("core", "components", "include", "contrib/tools")


def room_of(path):
    """Returns the row of ROOMS that a file counts for, or None."""
    folders = [(folder, row) for row in ROOMS for folder in row[2:] if path.startswith(folder + "/")]
    return max(folders, key=lambda f: len(f[0]))[1] if folders else None


def measure(root):
    """Returns (lines of each row of ROOMS, files without a row)."""
    lines, homeless = {row: 0 for row in ROOMS}, []
    for path in common.files(root, ".c", ".h", ".def", under=TREES):
        row = room_of(path)
        if row:
            lines[row] += common.read(root, path).count("\n")
        elif os.path.dirname(path) != "core":  # core/ itself joins the rooms
            homeless.append(path)
    return lines, homeless


def check(root, _build):
    lines, homeless = measure(root)
    violations = ["%s: in a folder without a row in ROOMS" % path for path in homeless]
    for row, n in lines.items():
        if n > row[0] * SLACK // 100:
            violations.append("%s: %d lines, planned %d" % ("+".join(row[2:]), n, row[0]))
    return violations


def report(root):
    for row, n in measure(root)[0].items():
        print("%6d of %5d  %-30s %s" % (n, row[0], "+".join(row[2:]), row[1]))


def sample(root, _build):
    def room(folder, lines):
        common.write(root, folder + "/a.c", "int a;\n" * lines)

    most = {row[2]: row[0] * SLACK // 100 for row in ROOMS}
    room("core/topo", most["core/topo"])
    room("core/link", most["core/link"] + 1)
    room("core/types", 8000)
    room("core/wire", most["core/types"] - 7999)
    room("core/attic", 1)
    room("core", 9000)
    return ["core/link: %d lines, planned" % (most["core/link"] + 1),
            "core/types+core/wire: %d lines, planned" % (most["core/types"] + 1),
            "core/attic/a.c: in a folder"]


if __name__ == "__main__":
    common.main(check, sample, report)
