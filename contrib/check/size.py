#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A ratchet on size: a file holds one concept and has at most 800 lines, a function of the product at most 60.
More needs a line in size-allow.txt with the size, and such a line may only shrink ("size.py
--update ROOT" lowers and removes lines, and never adds one). The same holds for the number of
static functions of up to five lines that are called once: each should name a real idea, else its
lines belong where it is called. Prints these, for information, and the .c files that no test
knows."""
import os
import re
import sys

import common

ALLOW = "contrib/check/size-allow.txt"
MAX_FILE = 800
MAX_FUNCTION = 60
SMALL = 5  # lines between the braces
ONCE = "small-once"
TREES = ("core", "frameworks", "components", "include", "contrib")
TESTS = ("test",)  # of these the files alone count


def functions(text):
    """(name, lines, is static) of each function; the house style puts its braces in the first
    column."""
    head, start = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            names = re.findall(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head))
            yield names[0] if names else "?", number - start + 1, "static" in head.split()
            head, start = "", None
        elif start is None:
            ends = not line or line.startswith("#") or line.endswith((";", "*/"))
            head = "" if ends else head + " " + line


def small_once(root):
    """"path:function" of each small static function that one call alone needs. One whose address
    is taken has to be a function."""
    for path in common.files(root, ".c", under=TREES):
        text = re.sub(r"/\*.*?\*/", "", common.read(root, path), flags=re.DOTALL)
        for name, length, is_static in functions(text):
            if not is_static or length > SMALL + 2:
                continue
            body = re.sub(r"^static [^;{}=]*\b%s\s*\([^;{}]*\);" % name, "", text, flags=re.MULTILINE)
            uses = re.findall(r"\b%s\b(\s*\(|)" % name, body)
            if len(uses) == 2 and all(uses):
                yield "%s:%s" % (path, name)


def measure(root):
    """Sizes beyond the limits: "path" or "path:function" -> lines; and "small-once" -> functions."""
    large = {}
    for path in common.files(root, ".c", ".h", under=TREES + TESTS):
        text = common.read(root, path)
        lines = text.count("\n")
        if lines > MAX_FILE:
            large[path] = lines
        for name, length, _ in functions(text):
            if length > MAX_FUNCTION and path.startswith(tuple(t + "/" for t in TREES)):
                large["%s:%s" % (path, name)] = length
    large[ONCE] = len(list(small_once(root)))
    return large


def allowances(root):
    entries = {}
    for line in common.read(root, ALLOW).splitlines():
        fields = line.split("#")[0].split()
        if fields:
            entries[fields[0]] = int(fields[1])
    return entries


def untested(root):
    """.c files of core/ and components/ of which no test knows a name: the file's own, that of
    a function of its interface, or for a component that of its framework's contract."""
    words = set()
    for path in common.files(root, ".c", ".h", ".py", ".sh", under=("test",)):
        words.add(re.sub(r"^test_", "", os.path.splitext(os.path.basename(path))[0]))
        words.update(re.findall(r"\bP(?:X|MIx)_\w+|\bpx_\w+", common.read(root, path)))
    for path in common.files(root, ".c", under=("core", "components")):
        names = {os.path.basename(path)[:-2]}
        names.update(name for name, _, _ in functions(common.read(root, path))
                     if name.startswith(("px_", "PMIx_")))
        if path.startswith("components/"):
            names.add("contract_" + path.split("/")[1])
        if not names & words:
            yield path


def check(root, _build):
    large, allowed = measure(root), allowances(root)
    violations = []
    for what, lines in large.items():
        limit = 0 if what == ONCE else MAX_FUNCTION if ":" in what else MAX_FILE
        if lines > max(limit, allowed.get(what, 0)):
            violations.append("%s: %d, limit %d" % (what, lines, max(limit, allowed.get(what, 0))))
    for what, lines in allowed.items():
        if what != ONCE and large.get(what, 0) < lines:
            violations.append("%s: has shrunk from %d lines; run contrib/check/size.py --update ."
                              % (what, lines))
    return violations


def update(root):
    large = measure(root)
    kept = []
    for line in common.read(root, ALLOW).splitlines():
        fields = line.split("#")[0].split()
        if fields:
            if fields[0] not in large:
                continue
            line = line.replace(fields[1], str(min(int(fields[1]), large[fields[0]])), 1)
        kept.append(line)
    common.write(root, ALLOW, "\n".join(kept) + "\n")


def sample(root, _build):
    def function(name, lines, mark=""):
        return "%sint\n%s(int a)\n{\n%s}\n" % (mark, name, "    a++;\n" * (lines - 2))

    common.write(root, "core/base/long.c", "int a;\n" * (MAX_FILE + 1))
    common.write(root, "core/base/grown.c", "int a;\n" * (MAX_FILE + 20))
    common.write(root, "core/base/old.c", "int a;\n" * (MAX_FILE + 20))
    common.write(root, "core/base/f.c", "#define X \\\n    1\n" + function("fits", MAX_FUNCTION)
                 + function("sprawls", MAX_FUNCTION + 1))
    common.write(root, "core/base/once.c", "".join(
        function(name, lines, "static ") for name, lines in
        (("once", 7), ("declared", 3), ("twice", 3), ("table", 3), ("long_enough", 8)))
        + "static int declared(int a);\nint x = once(1) + twice(1) + twice(2) + long_enough(1);\n"
        "int (*f)(int) = table;\nint y = declared(1); /* once(2) */\n")
    common.write(root, "test/unit/long.c", function("tests", MAX_FILE))
    common.write(root, ALLOW, "small-once 1\ncore/base/grown.c %d\ncore/base/old.c %d # as it was\n"
                 "core/base/gone.c 600\n" % (MAX_FILE + 10, MAX_FILE + 20))
    return ["core/base/long.c: ", "core/base/grown.c: ", "core/base/f.c:sprawls: ",
            "core/base/gone.c: ", "test/unit/long.c: ", "small-once: 2, limit 1"]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(sys.argv[2])
    else:
        if len(sys.argv) == 3:
            for untested_path in untested(sys.argv[1]):
                print("no test knows %s" % untested_path)
            for function in small_once(sys.argv[1]):
                print("small, and called once: %s" % function)
        common.main(check, sample)
