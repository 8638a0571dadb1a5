# SPDX-License-Identifier: BSD-3-Clause
"""C (and C++) for each row of each table: statements that CHECK the contents of the row."""
import re

import choices
import macro_calls
import tables


def defined(name):
    """Checks a name that programs test with #ifdef."""
    return ["#ifndef %s" % name, "#error %s is not a macro" % name, "#endif"]


def absent(name):
    """Checks that a name is not defined: its definition would be a false claim."""
    # Quoted, because compilers report an apostrophe in skipped text, too.
    return ["#ifdef %s" % name, '#error "%s is defined: %s"' % (name, choices.ABSENT[name]), "#endif"]


def renamed(declaration, name, new, after=r"\)?\("):
    """Returns the declaration with another name. after: pattern of the text behind the name."""
    text, found = re.subn(r"\b%s\b(?=%s)" % (re.escape(name), after), new, declaration)
    if found != 1:
        raise ValueError("not a declaration of %s: %s" % (name, declaration))
    return text


def function(row, _build):
    name = row.cells["name"]
    return ["typedef %s;" % renamed(row.cells["prototype"], name, "want"),
            "CHECK(SAME_TYPE(%s, want));" % name,
            "probe_exported(\"%s\");" % name]


def exported_object(row, _build):
    name = row.cells["name"]
    return ["{", "%s;" % renamed(row.cells["declaration"], name, "want", r"\["),
            "CHECK(SAME_TYPE(%s, want));" % name, "}", "probe_exported(\"%s\");" % name]


def constant(row, build):
    name = row.cells["name"]
    if name in choices.ABSENT:
        return absent(name)
    value = tables.value(row, build)
    body = defined(name) if row.cells["kind"] == "define" else []
    kept = "(%s)(%s)" % (row.cells["c_type"], name)
    return body + ["CHECK_NUMBER(%s, %s);" % (name, value),
                       "CHECK_NUMBER(%s, %s);" % (kept, value)]


def attribute(row, _build):
    name, value = row.cells["name"], row.cells["string"]
    # A literal: programs join keys with other literals.
    return defined(name) + ['CHECK_TEXT("" %s "", "%s");' % (name, value)]


def struct(row, build):
    cells = row.cells
    name, ctype = cells["type_name"], cells["c_type"]
    first, second = re.split("[:/]", tables.value(row, build))
    if cells["kind"] == "member":
        member = "((%s *)0)->%s" % (name, cells["member"])
        body = ["CHECK_NUMBER(offsetof(%s, %s), %s);" % (name, cells["member"], first),
                "CHECK_NUMBER(sizeof(%s), %s);" % (member, second)]
        if not ctype.startswith("union"):
            body.append("CHECK(SAME_TYPE(%s, %s));" % (member, ctype))
        return body
    body = ["CHECK_NUMBER(sizeof(%s), %s);" % (name, first),
            "CHECK_NUMBER(__alignof__(%s), %s);" % (name, second)]
    if cells["kind"] == "typedef" and ctype.startswith("enum"):
        body.append("CHECK(IS_UNSIGNED_ENUM(%s));" % name)
    elif cells["kind"] == "typedef":
        body.append("CHECK(SAME_TYPE(%s, %s));" % (name, ctype))
    elif "anonymous" not in ctype:
        body.append("CHECK(SAME_TYPE(%s, %s));" % (name, ctype.removeprefix("struct tag: ")))
    return body


def callback(row, build):
    name, ctype = row.cells["name"], row.cells["prototype_or_type"]
    if row.cells["kind"] == "typedef":
        return ["typedef %s;" % renamed(ctype, name, "want"),
                    "CHECK(SAME_TYPE(%s, want));" % name]
    index, offset = tables.value(row, build).removeprefix("#").split("@")
    at = "offsetof(pmix_server_module_t, %s)" % name
    return ["CHECK_NUMBER(%s, %s);" % (at, offset),
                "CHECK_NUMBER(%s / sizeof(void (*)(void)), %s);" % (at, index),
                "CHECK(SAME_TYPE(((pmix_server_module_t *)0)->%s, %s));" % (name, ctype)]


def macro(row, _build):
    name = row.cells["name"]
    if name not in macro_calls.CALLS:
        raise ValueError("macro_calls.py has no call")
    body = macro_calls.CALLS[name]
    if not re.search(r"\b%s\b" % name, body):
        raise ValueError("the call of macro_calls.py does not call it")
    is_macro = row.cells["kind"] != "static inline" and name not in choices.NOT_A_MACRO
    return (defined(name) if is_macro else []) + body.strip().split("\n")


PROBE = {"functions": function, "extensions": function, "objects": exported_object, "constants": constant, "attributes": attribute,
         "structs": struct, "callbacks": callback, "macros": macro}


def source(table, rows, build):
    """Returns the program for some rows of a table, and the rows without code: (row, reason). Errors of compilers
    name the line of the row in the table."""
    out = ['#include "probe.h"']
    entries, without = [], []
    for row in rows:
        try:
            body = PROBE[table](row, build)
        except (KeyError, ValueError) as e:
            without.append((row, str(e)))
            continue
        code = ["static void row_%d(void)" % row.line, "{"] + body + ["}"]
        for line in code:
            out += ['#line %d "%s.tsv"' % (row.line, table), line]
        entries.append("    {%d, row_%d}," % (row.line, row.line))
    out += ['#line 1 "%s_main.c"' % table,
            "static const struct probe probes[] = {", *entries, "};",
            "int main(void) { return probe_all(probes, sizeof(probes) / sizeof(probes[0])); }"]
    return "\n".join(out) + "\n", without
