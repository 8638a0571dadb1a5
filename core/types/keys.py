#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The dictionary of attributes, made from the headers that define them.

A header's line  #define PMIX_NAME "key" /* type: what it means */  is the only place where an
attribute is described. This script turns all such lines into the library's lookup table or into
a page for people. Lines that do not match the syntax are errors.

Several names may share a key. One of them is the preferred name of the key. Each other name needs
a reason at the end of its text. Either  newer: "other.key",  a key that later releases use instead
and that is looked up as well. Or  see PMIX_NAME,  the preferred name.
"""
import re
import sys
import tempfile

TYPES = {
    "bool": "BOOL", "char*": "STRING", "double": "DOUBLE", "float": "FLOAT", "int": "INT",
    "int32_t": "INT32", "pid_t": "PID", "size_t": "SIZE", "struct timeval": "TIMEVAL",
    "time_t": "TIME", "uint16_t": "UINT16", "uint32_t": "UINT32", "uint64_t": "UINT64",
    "pmix_alloc_inheritance_t": "ALLOC_INHERIT", "pmix_byte_object_t": "BYTE_OBJECT",
    "pmix_cpuset_t*": "PROC_CPUSET", "pmix_data_range_t": "DATA_RANGE",
    "pmix_device_type_t": "DEVTYPE", "pmix_envar_t*": "ENVAR", "pmix_geometry_t": "GEOMETRY",
    "pmix_link_state_t": "LINK_STATE", "pmix_persistence_t": "PERSIST", "pmix_proc_t*": "PROC",
    "pmix_proc_state_t": "PROC_STATE", "pmix_rank_t": "PROC_RANK", "pmix_scope_t": "SCOPE",
    "pmix_status_t": "STATUS", "pmix_storage_access_type_t": "STOR_ACCESS_TYPE",
    "pmix_storage_accessibility_t": "STOR_ACCESS", "pmix_storage_medium_t": "STOR_MEDIUM",
    "pmix_storage_persistence_t": "STOR_PERSIST", "pmix_topology_t*": "TOPO",
    "pointer": "POINTER", "void*": "POINTER", "struct event_base*": "POINTER",
    "hwloc_topology_t": "POINTER", "varies": "UNDEF", "none": "UNDEF",
}
# Arrays may be made of these, too.
ELEMENTS = {"pmix_app_t", "pmix_data_array_t", "pmix_device_distance_t", "pmix_device_t",
            "pmix_endpoint_t", "pmix_info_t", "pmix_node_pid_t", "pmix_proc_info_t", "pmix_proc_t",
            "pmix_regattr_t", "pmix_resource_unit_t"}

TEXT_DEFINE = re.compile(r'\s*#\s*define\s+\w+\s+"')
ENTRY = re.compile(r'#define (PMIX_[A-Z0-9_]+) +"([\x21\x23-\x5b\x5d-\x7e]+)" +/\* '
                   r'(?:([\w* ]+(?:\[\])?): )?((?! )(?:(?!\*/).)+(?<! )) \*/$')
NEWER = re.compile(r'; newer: "(\S+)"$')
SEE = re.compile(r'see (PMIX_[A-Z0-9_]+)$')


class Entry:
    def __init__(self, name, key, type_text, text, group, path, number):
        self.name, self.key, self.type_text, self.group = name, key, type_text, group
        self.order, self.where = (path, number), "%s:%d" % (path, number)
        newer = NEWER.search(text)
        self.newer = newer.group(1) if newer else None
        self.text = NEWER.sub("", text)
        see = SEE.search(text)
        self.see = see.group(1) if see else None
        self.type = type_of(type_text)


def type_of(text):
    """Returns the data type constant of a C type as written in the headers, or None."""
    if text is not None and text.endswith("[]"):
        element = text.removesuffix("[]")
        return "PMIX_DATA_ARRAY" if element in ELEMENTS or element in TYPES else None
    return "PMIX_" + TYPES[text] if text in TYPES else None


def read_header(path, errors):
    """Returns the entries of a header. Environment variables, with equal key and name, do not count."""
    entries, group = [], ""
    with open(path, encoding="ascii") as f:
        for number, line in enumerate(f.read().splitlines(), 1):
            where = "%s:%d" % (path, number)
            heading = re.fullmatch(r"/\* ([^*]*) \*/", line)
            if heading:
                group = heading.group(1)
            if not TEXT_DEFINE.match(line):
                continue
            found = ENTRY.match(line)
            if not found:
                errors.append("%s: no key, type and text" % where)
                continue
            name, key, type_text, text = found.groups()
            if name == key and type_text is None:
                continue
            entry = Entry(name, key, type_text, text, group, path, number)
            if entry.type is None:
                errors.append("%s: unknown type of %s" % (where, name))
            if len(key) > 511:
                errors.append("%s: key of %s is too long" % (where, name))
            entries.append(entry)
    return entries


def check_names(entries, errors):
    seen = {}
    for e in entries:
        other = seen.setdefault(e.name.lower(), e)
        if other is not e:
            errors.append("%s: %s is defined at %s too" % (e.where, e.name, other.where))


def name_keys(entries, errors):
    """Returns the preferred entry of each key, including newer keys."""
    owner = {}
    by_name = {e.name: e for e in entries}
    for e in entries:
        if e.newer or (e.see and by_name.get(e.see) and by_name[e.see].key == e.key):
            continue
        other = owner.setdefault(e.key.lower(), e)
        if other is not e:
            errors.append("%s: key of %s is that of %s" % (e.where, e.name, other.name))
    for e in entries:
        if e.key.lower() not in owner:
            errors.append("%s: cannot find the preferred name for the key of %s" % (e.where, e.name))
        if e.newer and owner.setdefault(e.newer.lower(), e) is not e:
            errors.append("%s: newer key of %s is in use" % (e.where, e.name))
    return owner


def read(paths):
    errors, entries = [], []
    for path in paths:
        entries += read_header(path, errors)
    check_names(entries, errors)
    owner = name_keys(entries, errors)
    entries.sort(key=lambda e: e.name.lower())
    if not entries:
        errors.append("%s: no keys" % " ".join(paths))
    return entries, owner, errors


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def as_c(entries, owner):
    index = {e.name: i for i, e in enumerate(entries)}
    spelling = {k.lower(): k for e in entries for k in (e.key, e.newer) if k}
    lines = ["/* Made by keys.py from the headers; do not edit. */",
             '#include "core/types/keys.h"', "", "const struct px_key px_keys[] = {"]
    for e in entries:
        lines.append("    {%s, %s, %s, %s, %s}," % (
            quoted(e.name), quoted(e.key), quoted(e.newer) if e.newer else "NULL", e.type,
            quoted(e.text)))
    lines += ["};", "const size_t px_n_keys = sizeof(px_keys) / sizeof(px_keys[0]);", "",
              "const struct px_key_owner px_key_owners[] = {"]
    for key in sorted(owner):
        lines.append("    {%s, %d}," % (quoted(spelling[key]), index[owner[key].name]))
    lines += ["};", "const size_t px_n_key_owners =",
              "    sizeof(px_key_owners) / sizeof(px_key_owners[0]);", ""]
    return "\n".join(lines)


def as_markdown(entries, _owner):
    def cell(text):
        return re.sub(r"([|*_\[\]<>\\])", r"\\\1", text)

    lines = ["# Attributes", "", "Every attribute of the headers: its name in a program, the key it"
             " stands for, the type of its value and what it means. `T[]` is a"
             " `pmix_data_array_t*` with elements of T. A newer key is accepted as well."]
    group = None
    for e in sorted(entries, key=lambda e: e.order):
        if e.group != group:
            group = e.group
            lines += ["", "## " + group, "", "| name | key | type | meaning |", "|---|---|---|---|"]
        key = "`%s`" % e.key + (", newer: `%s`" % e.newer if e.newer else "")
        lines.append("| `%s` | %s | `%s` | %s |" % (e.name, key, e.type_text, cell(e.text)))
    return "\n".join(lines) + "\n"


SAMPLE = """\
/* Keys */
#define PMIX_GOOD  "pmix.good"  /* char*[]: text */
#define PMIX_VAR   "PMIX_VAR"   /* a variable */
#define PMIX_OLD   "pmix.good"  /* bool: see PMIX_GOOD */
#define PMIX_MOVED "pmix.good"  /* int: text; newer: "pmix.moved" */
"""
BAD_LINES = {
    '#define PMIX_X "pmix.x"': "no key, type and text",
    '#define PMIX_X "pmix.x" /* bool: a */ /* b */': "no key, type and text",
    '#define PMIX_X pmix.x /* bool: a */': None,
    '#define X "pmix.x" /* bool: a */': "no key, type and text",
    '#define PMIX_X "pmix x" /* bool: a */': "no key, type and text",
    '#define PMIX_X "pmix.x" // bool: a': "no key, type and text",
    '#define PMIX_X "pmix.x" /* no type */': "unknown type",
    '#define PMIX_X "pmix.x" /* boolean: a */': "unknown type",
    '#define PMIX_X "pmix.x" /* boolean[]: a */': "unknown type",
    '#define PMIX_GOOD "pmix.x" /* bool: a */': "is defined at",
    '#define PMIX_X "pmix.good" /* bool: a */': "is that of PMIX_GOOD",
    '#define PMIX_X "PMIX.good" /* bool: a */': "is that of PMIX_GOOD",
    '#define PMIX_X "pmix.x" /* bool: see PMIX_Y */': None,
    '#define PMIX_X "pmix.good" /* bool: see PMIX_Y */': "is that of PMIX_GOOD",
    '#define PMIX_X "pmix.x" /* bool: a; newer: "pmix.good" */': "is in use",
    '#define PMIX_X "pmix.x" /* bool: a; newer: "pmix.y" */': "cannot find the preferred name",
}


def read_text(text):
    with tempfile.NamedTemporaryFile("w", suffix=".h") as f:
        f.write(text)
        f.flush()
        return read([f.name])


def self_test():
    wrong = []
    entries, owner, errors = read_text(SAMPLE)
    wrong += ["refused: " + e for e in errors]
    if [e.name for e in entries] != ["PMIX_GOOD", "PMIX_MOVED", "PMIX_OLD"]:
        wrong.append("names: %s" % [e.name for e in entries])
    if {k: e.name for k, e in owner.items()} != {"pmix.good": "PMIX_GOOD",
                                                 "pmix.moved": "PMIX_MOVED"}:
        wrong.append("owners of keys: %s" % owner)
    if '{"PMIX_GOOD", "pmix.good", NULL, PMIX_DATA_ARRAY, "text"},' not in as_c(entries, owner):
        wrong.append("the table in C lacks PMIX_GOOD")
    if "| `PMIX_GOOD` | `pmix.good` | `char*[]` | text |" not in as_markdown(entries, owner):
        wrong.append("the page lacks PMIX_GOOD")
    for line, expected in BAD_LINES.items():
        errors = read_text(SAMPLE + line + "\n")[2]
        if expected is None and errors:
            wrong.append("refused: %s: %s" % (line, errors))
        if expected and not any(expected in e for e in errors):
            wrong.append("not refused as '%s': %s" % (expected, line))
    if not read_text("")[2]:
        wrong.append("an empty header passes")
    return wrong


def main():
    args = sys.argv[1:]
    if args == ["--self-test"]:
        wrong = self_test()
    elif len(args) >= 3 and args[0] in ("c", "markdown"):
        entries, owner, wrong = read(args[2:])
        if not wrong:
            with open(args[1], "w", encoding="ascii") as f:
                f.write((as_c if args[0] == "c" else as_markdown)(entries, owner))
    else:
        sys.exit("usage: keys.py --self-test | c OUTPUT HEADER... | markdown OUTPUT HEADER...")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
