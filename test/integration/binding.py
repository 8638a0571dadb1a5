#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""binding.py ROLE ARGUMENT...: programs on the Python binding of OpenPMIx, which loads the libpmix that the dynamic linker
finds. They print "OK ROLE ..." after success. client: exchanges values with its job. tool PID: asks the server of this
process for its namespaces. submit PID N FILE: runs N jobs there. server N PROGRAM...: runs a job of N processes."""
import os
import subprocess
import sys

import pmix

JOB = "binding"


def info(key, value, kind):
    return {"key": key, "value": value, "val_type": kind}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def good(status, doing):
    if status not in (pmix.PMIX_SUCCESS, pmix.PMIX_OPERATION_SUCCEEDED):
        end("cannot %s: status %s" % (doing, status), 1)


def end(line, status=0):
    """Prints a line by one write, because processes share the stream. Ends at once: threads of the binding do not survive
    the interpreter's end."""
    sys.stdout.flush()
    os.write(sys.stdout.fileno(), (line + "\n").encode())
    os._exit(status)


# ---- client ------------------------------------------------------------------------------

VALUES = (("number", pmix.PMIX_INT32, lambda rank: rank - 7), ("text", pmix.PMIX_STRING, "rank {}".format),
          ("real", pmix.PMIX_DOUBLE, lambda rank: rank + 0.25))


def client():
    c = pmix.PMIxClient()
    status, me = c.init([])
    good(status, "init")
    space, rank = text(me["nspace"]), me["rank"]
    status, size = c.get({"nspace": space, "rank": pmix.PMIX_RANK_WILDCARD}, pmix.PMIX_JOB_SIZE, [])
    good(status, "get the size of the job")
    for key, kind, make in VALUES:
        good(c.put(pmix.PMIX_GLOBAL, key, {"value": make(rank), "val_type": kind}), "put " + key)
    good(c.commit(), "commit")
    good(c.fence([], [info(pmix.PMIX_COLLECT_DATA, True, pmix.PMIX_BOOL)]), "fence")
    for other in range(size["value"]):
        for key, _, make in VALUES:
            status, value = c.get({"nspace": space, "rank": other}, key, [])
            good(status, "get %s of rank %d" % (key, other))
            if text(value["value"]) != make(other):
                end("%s of rank %d is %r" % (key, other, value), 1)
    status, _ = c.get({"nspace": space, "rank": rank}, "absent", [info(pmix.PMIX_OPTIONAL, True, pmix.PMIX_BOOL)])
    if status == pmix.PMIX_SUCCESS:
        end("a value of a key that no process has put", 1)
    good(c.fence([], []), "fence again")
    good(c.finalize([]), "finalize")
    end("OK client %d" % rank)


# ---- tool --------------------------------------------------------------------------------

def tool(pid):
    t = pmix.PMIxTool()
    status, _ = t.init([info(pmix.PMIX_SERVER_PIDINFO, int(pid), pmix.PMIX_PID)])
    good(status, "init")
    status, results = t.query([{"keys": [pmix.PMIX_QUERY_NAMESPACES], "qualifiers": []}])
    good(status, "query")
    print("NAMESPACES", " ".join(text(r["value"]) for r in results))
    good(t.finalize(), "finalize")
    end("OK tool")


def submit(pid, n, path):
    """Spawns n jobs of the server of this process, each of which adds a line to a file."""
    t = pmix.PMIxTool()
    status, _ = t.init([info(pmix.PMIX_SERVER_PIDINFO, int(pid), pmix.PMIX_PID)])
    good(status, "init")
    names = set()
    for i in range(int(n)):
        status, name = t.spawn([], [{"cmd": "sh", "argv": ["sh", "-c", "echo %d >>%s" % (i, path)], "maxprocs": 1,
                                     "env": [], "info": []}])
        good(status, "spawn")
        names.add(text(name))
    good(t.finalize(), "finalize")
    end("OK submit %d" % len(names))


# ---- server ------------------------------------------------------------------------------

calls = {"connected": 0, "finalized": 0}


def count(name):
    def call(*_):
        calls[name] += 1
        return pmix.PMIX_OPERATION_SUCCEEDED
    return call


def fence(_procs, _directives, data, *_):
    return pmix.PMIX_SUCCESS, data


def register(s, n):
    """Registers the job, and returns the environments of its processes. The binding holds the interpreter's lock in
    these calls, so no process may run before they have ended."""
    ranks, environments = ",".join(map(str, range(n))), []
    status, nodes = s.generate_regex([os.uname().nodename])
    good(status, "compress the nodes")
    status, procs = s.generate_ppn([ranks])
    good(status, "compress the ranks")
    good(s.register_nspace(JOB, n, [
        info(pmix.PMIX_JOB_SIZE, n, pmix.PMIX_UINT32), info(pmix.PMIX_UNIV_SIZE, n, pmix.PMIX_UINT32),
        info(pmix.PMIX_LOCAL_SIZE, n, pmix.PMIX_UINT32), info(pmix.PMIX_LOCAL_PEERS, ranks, pmix.PMIX_STRING),
        info(pmix.PMIX_NODE_MAP, nodes, pmix.PMIX_REGEX), info(pmix.PMIX_PROC_MAP, procs, pmix.PMIX_REGEX)]),
        "register the job")
    for rank in range(n):
        proc, environment = {"nspace": JOB, "rank": rank}, dict(os.environ)
        good(s.register_client(proc, os.getuid(), os.getgid()), "register a process")
        good(s.setup_fork(proc, environment), "set up a process")
        environments.append({text(key): text(value) for key, value in environment.items()})
    return environments


def server(n, *program):
    s = pmix.PMIxServer()
    status = s.init([info(key, os.environ["TMPDIR"], pmix.PMIX_STRING)
                     for key in (pmix.PMIX_SERVER_TMPDIR, pmix.PMIX_SYSTEM_TMPDIR)],
                    {"clientconnected": count("connected"), "clientfinalized": count("finalized"), "fencenb": fence})
    good(status[0] if isinstance(status, tuple) else status, "init")
    running = [subprocess.Popen(program, env=environment) for environment in register(s, int(n))]
    worst = max(abs(process.wait(timeout=60)) for process in running)  # a signal is negative
    good(s.finalize(), "finalize")
    print("CALLS %(connected)d %(finalized)d" % calls)
    end("OK server", worst)


if __name__ == "__main__":
    {"client": client, "tool": tool, "submit": submit, "server": server}[sys.argv[1]](*sys.argv[2:])
