#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rooms that may include others: the rules of docs/architecture.md, section 3."""
import os
import re

import common

PUBLIC = {"include"}
VENDOR = PUBLIC | {"include/tenon"}
BASE = PUBLIC | {"core/base", "core/os"}
TYPES = BASE | {"core/types"}
WIRE = TYPES | {"core/wire"}
FRAMEWORKS = BASE | VENDOR | {"frameworks"}
RECLAIM = BASE | VENDOR | {"core/reclaim"}
RT = BASE | VENDOR | {"core/rt"}
CONFIG = RT | {"core/config"}
PLUGIN = CONFIG | FRAMEWORKS | {"core/plugin"}
TOPO = RT | TYPES | {"core/topo"}
LINK = RT | WIRE | {"core/link"}
MODEL = LINK | PLUGIN | TOPO | {"core/model"}
NOTIFY = MODEL | {"core/notify"}
IOF = PLUGIN | TYPES | {"core/iof"}
RECEIVERS = MODEL | IOF | {"core/iof/receivers"}
ROLE = NOTIFY | RECEIVERS | {"core/role"}
CLIENT = ROLE | {"core/client"}
SERVER = ROLE | RECLAIM | {"core/server"}
HOST = NOTIFY | IOF | {"core/host", "core/server/host.h", "core/reclaim/process.h"}
TOOL = CLIENT | SERVER | {"core/tool"}

# Room -> the rooms or files that its files may include. A component's room is its own folder.
ALLOWED = {
    "include": PUBLIC,
    "include/tenon": VENDOR,
    "core/base": BASE,
    "core/os": BASE,
    "core/reclaim": RECLAIM,
    "core/types": TYPES,
    "core/wire": WIRE,
    "frameworks": FRAMEWORKS,
    "core/rt": RT,
    "core/config": CONFIG,
    "core/plugin": PLUGIN | {"core/reclaim/process.h"},  # components are probed in a child
    "core/topo": TOPO,
    "core/link": LINK,
    "core/model": MODEL,
    "core/notify": NOTIFY,
    "core/role": ROLE,
    "core/iof": IOF,
    "core/iof/receivers": RECEIVERS,
    "core/client": CLIENT | {"core/reclaim/process.h"},  # the host of a singleton
    "core/server": SERVER,
    "core/host": HOST,
    "core/tool": TOOL,
    "components": WIRE | VENDOR | RECLAIM,
    "contrib/component-template": RECLAIM | WIRE | VENDOR,
    "contrib/examples": PUBLIC,
    "contrib/examples/fabric-sim": VENDOR,  # built with an installed SDK
    "contrib/tools": PUBLIC,
    "contrib/tools/pmix_info": PLUGIN | RECLAIM | {"contrib/tools"},  # shows internals
}
# Libraries that only some rooms may use. All rooms may use all other libraries.
LIBRARIES = {
    r"zlib\.h": {"core/wire"},
    r"hwloc(\.h|/)": {"core/types", "core/topo"},
    r"check\.h": set(),
}


def room_of(path):
    """Returns the room of a file and its place, e.g. include, core/rt, components/ptl/tcp."""
    parts = path.split("/")[:-1]
    if parts[:1] == ["components"]:
        return "components", "/".join(parts[:3])
    for inner in ("include/tenon", "core/iof/receivers", "contrib/tools/pmix_info",
                  "contrib/examples/fabric-sim"):
        if parts[:len(inner.split("/"))] == inner.split("/"):
            return inner, inner
    if parts[:1] in (["include"], ["frameworks"]):
        return parts[0], parts[0]
    return "/".join(parts[:2]), "/".join(parts[:2])


def find(tops, path, name, quoted):
    """Returns the project's file that an include names, or None for a foreign header."""
    here = [os.path.join(os.path.dirname(path), name)] if quoted else []
    for candidate in here + [name, os.path.join("include", name)]:
        found = os.path.normpath(candidate)
        if any(os.path.isfile(os.path.join(top, found)) for top in tops):
            return found
    return None


def judge(tops, path, line, name, quoted):
    """Returns the reason why an include is wrong, or None."""
    room, place = room_of(path)
    where = "%s:%d: " % (path, line)
    target = find(tops, path, name, quoted)
    if target is None:
        if quoted:
            return where + "no such file: %s" % name
        for pattern, rooms in LIBRARIES.items():
            if re.match(pattern, name) and room not in rooms:
                return where + "%s does not use <%s>" % (room, name)
        return None
    target_room, target_place = room_of(target)
    # Shared sources of a framework's components are in the framework's folder.
    is_shared = room == target_room == "components" and place.startswith(target_place + "/")
    if target_place == place or is_shared or {target_room, target} & ALLOWED[room]:
        return None
    return where + "%s must not include %s" % (place, target)


def check(root, build):
    violations = []
    for path in common.files(root, ".c", ".h", ".def"):
        room, _ = room_of(path)
        if path.startswith("test/"):
            continue
        if room not in ALLOWED:
            violations.append("%s: no rule for this folder" % path)
            continue
        for number, line in enumerate(common.read(root, path).splitlines(), 1):
            m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
            why = m and judge((root, build), path, number, m.group(2), m.group(1) == '"')
            if why:
                violations.append(why)
    return violations


def sample(root, _build):
    for header in ("include/pmix.h", "include/tenon/services.h", "core/base/a.h", "core/rt/loop.h",
                   "core/server/s.h", "core/server/host.h", "core/host/h.h", "core/iof/s.h", "core/iof/receivers/r.h", "core/wire/w.h",
                   "components/ptl/tcp/tcp.h", "components/ptl/common.h"):
        common.write(root, header, "")
    bad = {
        "core/base/up.c": '#include "core/rt/loop.h"',
        "core/client/peer.c": '#include "core/server/s.h"',
        "core/host/behind.c": '#include "core/server/s.h"',
        "core/server/up.c": '#include "core/host/h.h"',
        "core/iof/up.c": '#include "core/iof/receivers/r.h"',
        "core/rt/skip.c": '# include "core/wire/w.h"',
        "components/ptl/usock/core.c": '#include "core/rt/loop.h"',
        "components/ptl/usock/cousin.c": '#include "components/ptl/tcp/tcp.h"',
        "components/ptl/usock/packed.c": "#include <zlib.h>",
        "components/ptl/down.c": '#include "components/ptl/tcp/tcp.h"',
        "components/gds/hash/other.c": '#include "components/ptl/common.h"',
        "contrib/tools/t.c": '#include "core/base/a.h"',
        "contrib/tools/pmix_info/t.c": '#include "core/server/s.h"',
        "contrib/examples/e.c": "#include <tenon/services.h>",
        "contrib/examples/fabric-sim/f.c": '#include "core/base/a.h"',
        "include/pub.h": '#include "tenon/services.h"',
        "core/base/gone.c": '#include "core/base/gone.h"',
        "attic/x.c": "",
    }
    for path, text in bad.items():
        common.write(root, path, text + "\n")
    common.write(root, "components/ptl/tcp/ok.c",
                 '#include <stdio.h>\n#include "tcp.h"\n#include "tenon/services.h"\n'
                 '#include "components/ptl/common.h"\n'
                 '#include "core/wire/w.h"\n')
    common.write(root, "core/iof/receivers/ok.c", '#include "core/iof/s.h"\n#include "r.h"\n')
    common.write(root, "core/server/ok.c", '#include "core/rt/loop.h"\n')
    common.write(root, "core/host/ok.c", '#include "core/server/host.h"\n#include "h.h"\n')
    common.write(root, "contrib/tools/ok.c", "#include <pmix.h>\n")
    common.write(root, "contrib/tools/pmix_info/ok.c", '#include "core/rt/loop.h"\n')
    return [path + ":" for path in bad]


if __name__ == "__main__":
    common.main(check, sample)
