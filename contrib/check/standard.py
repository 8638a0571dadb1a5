#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/standard.md: for each function and attribute of the Standard, the side that serves it. The sources are the
tables in the code: services of the host or the library (on_host.c), functions of the host (attributes.c, builtin.c),
supported attributes (support_table.c, the built-in host), keys of jobs (lookup.c), keys of queries, and the files that
name an attribute. --update writes the page."""
import collections
import csv
import os
import re
import sys

import common
import services

PAGE = "docs/standard.md"
DATA = "test/conformance/abi/data/%s.tsv"
SUPPORT = "core/link/support_table.c"
SLOTS = "core/server/node/attributes.c"
KEYS = "core/model/lookup.c"
NAME = re.compile(r"\bPMIX_[A-Z][A-Z0-9_]*\b")
HEAD = """# The Standard, by function and attribute

This page is made by `contrib/check/standard.py --update` from the tables of the code. [coverage.md](coverage.md) explains
the sides and the refusals.

"""
# Attributes that the library does not read, by section of the Standard: the party that gets them.
PASSED = {
    "Attributes in PMIx": "a value for functions that take a name, and not an attribute",
    "Job Allocation attributes": "passed to the host's `allocate`",
    "Fence-related attributes": "passed to the host's `fence_nb`",
    "Debugger attributes": "passed to the host's `spawn`",
    "Credential Attributes": "passed to the host's `get_credential` and `validate_credential`",
    "Device distance attributes": "found by `PMIx_Get` if the host registers it",
    "Process Group Attributes": "found by `PMIx_Get` if the host registers it",
    "Spawn attributes": "passed to the host's `spawn`",
    "Tool spawn-related attributes": "passed to the host's `spawn`",
    "Fault tolerance event attributes": "passed with the event to its handlers and to the host",
    "Event handler registration and notification attributes": "passed with the event to its handlers and to the host",
    "Programming model attributes": "passed with the event to its handlers and to the host",
    "Fabric Support Attributes": "of fabric components, which describe their devices",
    "Job control attributes": "passed to the host's `job_control`",
    "Log attributes": "passed to the host's `log2` or `log`",
    "Query keys": "passed to the host's `query`",
    "Query attributes": "passed to the host's `query`",
    "": "passed to the host's `query`",
}
# Attributes that no side honours, and why: ignored, and PMIX_ERR_NOT_SUPPORTED if they are required.
REFUSED = {
    "PMIX_DATA_SCOPE": "a get searches all scopes",
    "PMIX_ENUM_VALUE": "answers about attributes have no values",
    "PMIX_IOF_LOCAL_OUTPUT": "the host writes the output of its processes",
}


def rows(root, name):
    text = common.read(root, DATA % name).splitlines()
    return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))


def supported(text):
    """Yields (level, function, attribute) of the rows of a table of supported attributes."""
    defines = {name: "".join(re.findall(r'"([^"]*)"', body))
               for name, body in re.findall(r"#define (\w+)\s+((?:.*\\\n)*.*)\n", text)}
    for level, body in re.findall(r"struct px_support (\w+)\[\] = \{(.*?)\n\};", text, re.S):
        for function, value in re.findall(r'\{"(PMIx_\w+)",(.*?)\}', body, re.S):
            value = re.sub(r"\b([A-Z]+)\b(?![A-Z_,])", lambda m: '"%s"' % defines.get(m.group(1), ""), value)
            for attribute in NAME.findall(value):
                yield level, function, attribute


def uses(root):
    """Returns the files of the library that name each attribute, shortest first, and the built-in host's."""
    found = collections.defaultdict(list)
    for path in common.files(root, ".c", ".h", under=("core", "components")):
        if path not in (SUPPORT, KEYS):
            for name in set(NAME.findall(common.read(root, path))):
                found[name].append(path)
    return found


def side(attribute, section, by_function, keys, found):
    """Returns the side that honours an attribute, and where."""
    if attribute in REFUSED:
        return "refused", REFUSED[attribute]
    parts = ["%s (%s)" % (function, level) for level, function in by_function.get(attribute, [])]
    if attribute in keys:
        parts.append("PMIx_Get")
    if parts:
        return "library", ", ".join("`%s`" % p if "(" not in p else "`%s` %s" % tuple(p.split(" ", 1)) for p in parts)
    files = found.get(attribute, [])
    library = [f for f in files if not f.startswith("core/host/")]
    if library:
        return "library", "`%s`" % library[0]
    if files:
        return "built-in host", "`%s`" % files[0]
    return "host", PASSED.get(section, "passed to the host")


def sides(root):
    """Returns a function that returns the sides of a function of the Standard."""
    builtin = services.builtin_slots(root)
    served = {line.split("`")[1]: [cell.strip() for cell in line.split("|")[2:5]]
              for line in services.table(common.read(root, services.SOURCE), builtin)[0][2:]}
    slots = collections.defaultdict(list)
    for slot, function in re.findall(r'\{"(\w+)", "(PMIx_\w+)"\}', common.read(root, SLOTS)):
        slots[function].append(slot)

    def text(function):
        base = function[:-3] if function.endswith("_nb") else function
        if base in served:
            host, own, ours = served[base]
            return "%shost: %s; where it has none: %s" % ("built-in host, or " if own == "yes" else "", host, ours)
        if base not in slots:
            return "library"
        host = ", ".join("`%s`" % slot for slot in slots[base])
        return "library, with the %shost: %s" % ("built-in host or the " if builtin & set(slots[base]) else "", host)
    return text


def page(root):
    text = sides(root)
    lines = ["## Functions", "", "| function | side |", "|---|---|"]
    functions = [f["name"] for f in rows(root, "functions") if f["std_v4.2_v5.0"].startswith("v")]
    lines += ["| `%s` | %s |" % (name, text(name)) for name in sorted(functions)]
    by_function = collections.defaultdict(list)
    for level, function, attribute in supported(common.read(root, SUPPORT)):
        by_function[attribute].append((level, function))
    keys, found = set(re.findall(r"ROW\((PMIX_\w+)", common.read(root, KEYS))), uses(root)
    attributes = [a for a in rows(root, "attributes") if a["std_v5.0"] in ("std", "provisional")]
    counts = collections.Counter()
    table = []
    for a in sorted(attributes, key=lambda a: a["name"]):
        who, where = side(a["name"], a["std_section"], by_function, keys, found)
        counts[who] += 1
        table.append("| `%s` | %s | %s |" % (a["name"], who, where))
    lines += ["", "## Attributes", "", "%d attributes: %s. The host gets the attributes of its side with the request." %
              (len(table), ", ".join("%s %d" % (who, n) for who, n in counts.most_common())),
              "A refused attribute is ignored, and `PMIX_ERR_NOT_SUPPORTED` if it is required.", "", "| attribute | side | where, or the reason |", "|---|---|---|"]
    return HEAD + "\n".join(lines + table) + "\n"


def check(root, _build):
    made = page(root)
    found = uses(root)
    # the datastore of the built-in host names what it does not publish
    wrong = ["%s: refused in standard.py, and named in %s" % (name, path)
             for name in REFUSED for path in found.get(name, []) if not path.startswith("core/host/pubs/")]
    if wrong:
        return wrong
    path = os.path.join(root, PAGE)
    is_current = os.path.isfile(path) and common.read(root, PAGE) == made
    return [] if is_current else ["%s: not current (standard.py --update)" % PAGE]


def sample(root, _build):
    common.write(root, services.SOURCE, "FORWARD(a, Log, HOST(log));\nFORWARD(b, Spawn, HOST(spawn));\n")
    common.write(root, services.BUILTIN, "const pmix_server_module_t functions = {\n    .spawn = f,\n    .abort = g,\n};\n")
    common.write(root, SLOTS, '        {"abort", "PMIx_Abort"},\n        {"query", "PMIx_Query_info"},\n')
    common.write(root, SUPPORT, 'static const struct px_support client[] = {\n    {"PMIx_Get", "PMIX_A,PMIX_B"},\n};\n')
    common.write(root, KEYS, "    ROW(PMIX_C, PMIX_BOOL, JOB, NONE),\n")
    common.write(root, "core/host/x.c", "PMIX_D\n")
    common.write(root, DATA % "functions", "name\tstd_v4.2_v5.0\nPMIx_Own\tnone\n" +
                 "".join("PMIx_%s\tv4.2/v5.0\n" % name for name in ("Log_nb", "Get", "Spawn", "Abort", "Query_info_nb")))
    common.write(root, DATA % "attributes", "name\tstd_v5.0\tstd_section\n" +
                 "".join("PMIX_%s\tstd\tx\n" % letter for letter in ("A", "B", "C", "D", "E", "DATA_SCOPE")) + "PMIX_F\tno\tx\n")
    text = page(root)
    for part in ("| `PMIx_Log_nb` | host: `log`; where it has none: refused: `PMIX_ERR_NOT_SUPPORTED` |", "| `PMIx_Get` | library |",
                 "| `PMIx_Spawn` | built-in host, or host: `spawn`; where it has none: refused: `PMIX_ERR_NOT_SUPPORTED` |",
                 "| `PMIx_Abort` | library, with the built-in host or the host: `abort` |",
                 "| `PMIx_Query_info_nb` | library, with the host: `query` |",
                 "| `PMIX_B` | library | `PMIx_Get` (client) |", "| `PMIX_C` | library | `PMIx_Get` |",
                 "| `PMIX_D` | built-in host | `core/host/x.c` |", "| `PMIX_E` | host |", "| `PMIX_DATA_SCOPE` | refused |",
                 "6 attributes: library 3,"):
        assert part in text, (part, text)
    assert "PMIx_Own" not in text and "PMIX_F" not in text
    common.write(root, PAGE, text)
    assert not check(root, None)
    common.write(root, PAGE, text + "\n")
    return [PAGE]


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        common.write(top, PAGE, page(top))
    else:
        common.main(check, sample)
