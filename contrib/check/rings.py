#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No ring of files across rooms of core/. Rings of includes count X.c, X.h and X_impl.h as one file.
Rings of calls count objects, and two objects may call each other. Files of one room may form a ring.
rings-allow.txt holds older rings, one a line; lines may only be removed."""
import os
import re
import subprocess

import common

ALLOW = "contrib/check/rings-allow.txt"
LARGEST = {"include": 1, "call": 2}


def unit_of(path):
    return re.sub(r"(_impl)?\.\w+$", "", path)


def includes(root):
    """Returns {unit: included units}. A unit is a path without its suffix."""
    graph = {}
    for path in common.files(root, ".c", ".h", ".def", under=("core",)):
        unit = unit_of(path)
        graph.setdefault(unit, set())
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', common.read(root, path), re.MULTILINE):
            here = os.path.normpath(os.path.join(os.path.dirname(path), name))
            target = unit_of(here if os.path.isfile(os.path.join(root, here)) else name)
            if target != unit:
                graph[unit].add(target)
    return graph


def object_unit(root, path):
    """Returns the source of an object without its suffix: of core/rt/libpx_rt.a.p/loop.c.o, core/rt/loop;
    of core/libpx_core.a.p/server_data_on_get.c.o, core/server/data/on_get."""
    folder, name = os.path.dirname(os.path.dirname(path)), os.path.basename(path)[:-len(".c.o")]
    while "_" in name and os.path.isdir(os.path.join(root, folder, name.split("_")[0])):
        first, name = name.split("_", 1)
        folder = os.path.join(folder, first)
    return os.path.join(folder, name)


def calls(root, build):
    """Returns {object: objects with functions or data that it uses}."""
    users, owner = {}, {}
    objects = common.files(build, ".o", under=("core",))
    out = subprocess.run(["nm", "--print-file-name", *objects], cwd=build, check=True,
                         capture_output=True, text=True).stdout if objects else ""
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        unit = object_unit(root, path)
        if kind == "U":
            users.setdefault(unit, set()).add(symbol)
        elif kind in "TDRB":
            owner[symbol] = unit
    return {unit: {owner[s] for s in symbols if owner.get(s, unit) != unit}
            for unit, symbols in users.items()}


def rings(graph):
    """Returns the sets of nodes that reach each other."""
    def reach(start):
        seen, left = set(), [start]
        while left:
            for node in graph.get(left.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    left.append(node)
        return seen

    reached = {node: reach(node) for node in graph}
    return sorted({tuple(sorted(n for n in reached[node] if node in reached.get(n, ())))
                   for node in graph if node in reached[node]})


def check(root, build):
    if not common.files(build, ".o", under=("core",)):
        return ["no object files in %s" % build]
    allowed = [set(line.split("#")[0].split()) for line in common.read(root, ALLOW).splitlines()]
    return ["%s ring: %s" % (kind, " ".join(ring))
            for kind, graph in (("include", includes(root)), ("call", calls(root, build)))
            for ring in rings(graph)
            if len(ring) > LARGEST[kind] and len({os.path.dirname(n) for n in ring}) > 1
            and not any(set(ring) <= old for old in allowed)]


def make(root, build, name, source):
    common.write(root, "x.c", source)
    output = os.path.join(build, "core/libpx_core.a.p", name + ".c.o")
    os.makedirs(os.path.dirname(output), exist_ok=True)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O0", "-c", "-o", output,
                    os.path.join(root, "x.c")], check=True)


def sample(root, build):
    common.write(root, "core/model/a.h", "")
    common.write(root, "core/host/a.h", "")
    for name, other in (("rt_a", "rt_b"), ("rt_b", "model_c"), ("model_c", "rt_a"), ("rt_d", "link_e"),
                        ("link_e", "rt_d"), ("rt_f", "rt_a"), ("host_g", "host_h"), ("host_h", "host_i"),
                        ("host_i", "host_g")):
        make(root, build, name, "void %s(void);\nvoid %s(void);\nvoid %s(void) { %s(); }\n"
             % (name, other, name, other))
    common.write(root, "core/rt/one.h", '#include "core/rt/two.h"\n')
    common.write(root, "core/rt/one.c", '#include "one.h"\n')
    common.write(root, "core/rt/two.c", '#include "core/rt/one.h"\n')
    common.write(root, "core/rt/two.h", "")
    common.write(root, "core/link/six.h", '#include "core/rt/seven.h"\n')
    common.write(root, "core/rt/seven.h", '#include "core/link/six.h"\n')
    common.write(root, "core/rt/three.c", '#include "core/rt/three_impl.h"\n')
    common.write(root, "core/rt/three_impl.h", '#include "core/rt/three.h"\n#include "two.h"\n')
    common.write(root, "core/rt/four.c", '#include "five.h"\n')
    common.write(root, "core/rt/five.h", '#include "four.h"\n')
    common.write(root, ALLOW, "core/rt/eight core/link/nine # as it was\n")
    common.write(root, "core/rt/eight.h", '#include "core/link/nine.h"\n')
    common.write(root, "core/link/nine.h", '#include "core/rt/eight.h"\n')
    return ["include ring: core/link/six core/rt/seven", "call ring: core/model/c core/rt/a core/rt/b"]


if __name__ == "__main__":
    common.main(check, sample)
