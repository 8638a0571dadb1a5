#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No ring of files in core/: of files that include each other, where X.c, X.h and X_impl.h count as
one, and of objects that call each other, of which pairs are allowed. Rings that stood when the rule
came are in rings-allow.txt, each as the files of one line; such a line may only be removed."""
import os
import re
import subprocess

import common

ALLOW = "contrib/check/rings-allow.txt"
LARGEST = {"include": 1, "call": 2}


def unit_of(path):
    return re.sub(r"(_impl)?\.\w+$", "", path)


def includes(root):
    """unit -> the units it includes; a unit is a path without its suffix."""
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


def calls(build):
    """object -> the objects whose functions or data it uses."""
    users, owner = {}, {}
    objects = common.files(build, ".o", under=("core",))
    out = subprocess.run(["nm", "--print-file-name", *objects], cwd=build, check=True,
                         capture_output=True, text=True).stdout if objects else ""
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        unit = os.path.basename(path)[:-len(".c.o")]
        if kind == "U":
            users.setdefault(unit, set()).add(symbol)
        elif kind in "TDRB":
            owner[symbol] = unit
    return {unit: {owner[s] for s in symbols if owner.get(s, unit) != unit}
            for unit, symbols in users.items()}


def rings(graph):
    """The sets of nodes that reach each other."""
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
            for kind, graph in (("include", includes(root)), ("call", calls(build)))
            for ring in rings(graph)
            if len(ring) > LARGEST[kind] and not any(set(ring) <= old for old in allowed)]


def make(root, build, name, source):
    common.write(root, "x.c", source)
    output = os.path.join(build, "core", name + ".c.o")
    os.makedirs(os.path.dirname(output), exist_ok=True)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O0", "-c", "-o", output,
                    os.path.join(root, "x.c")], check=True)


def sample(root, build):
    for name, other in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d"), ("f", "a")):
        make(root, build, name, "void %s(void);\nvoid %s(void);\nvoid %s(void) { %s(); }\n"
             % (name, other, name, other))
    common.write(root, "core/rt/one.h", '#include "core/rt/two.h"\n')
    common.write(root, "core/rt/one.c", '#include "one.h"\n')
    common.write(root, "core/rt/two.c", '#include "core/rt/one.h"\n')
    common.write(root, "core/rt/two.h", "")
    common.write(root, "core/rt/three.c", '#include "core/rt/three_impl.h"\n')
    common.write(root, "core/rt/three_impl.h", '#include "core/rt/three.h"\n#include "two.h"\n')
    common.write(root, "core/rt/four.c", '#include "five.h"\n')
    common.write(root, "core/rt/five.h", '#include "four.h"\n')
    common.write(root, ALLOW, "core/rt/five core/rt/four # as it was\n")
    return ["include ring: core/rt/one core/rt/two", "call ring: a b c"]


if __name__ == "__main__":
    common.main(check, sample)
