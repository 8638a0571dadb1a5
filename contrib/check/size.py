#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A ratchet on size: a file has at most 800 lines, and a function of the product at most 60. A larger
size needs a line in size-allow.txt. Such a line may only shrink: "size.py --update ROOT" lowers and
removes lines, and never adds a line. Prints the .c files without a test."""
import os
import re
import sys

import common

ALLOW = "contrib/check/size-allow.txt"
MAX_FILE = 800
MAX_FUNCTION = 60
TREES = ("core", "frameworks", "components", "include", "contrib")
TESTS = ("test",)  # only the limit of files applies


def functions(text):
    """Returns (name, lines) of each function. Braces of functions are in the first column."""
    head, start = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            names = re.findall(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head))
            yield names[0] if names else "?", number - start + 1
            head, start = "", None
        elif start is None:
            ends = not line or line.startswith("#") or line.endswith((";", "*/"))
            head = "" if ends else head + " " + line


def measure(root):
    """Returns the sizes beyond the limits: "path" or "path:function" -> lines."""
    large = {}
    for path in common.files(root, ".c", ".h", under=TREES + TESTS):
        text = common.read(root, path)
        lines = text.count("\n")
        if lines > MAX_FILE:
            large[path] = lines
        for name, length in functions(text):
            if length > MAX_FUNCTION and path.startswith(tuple(t + "/" for t in TREES)):
                large["%s:%s" % (path, name)] = length
    return large


def allowances(root):
    entries = {}
    for line in common.read(root, ALLOW).splitlines():
        fields = line.split("#")[0].split()
        if fields:
            entries[fields[0]] = int(fields[1])
    return entries


def untested(root):
    """Returns the .c files of core/ and components/ without a test. A test contains the name of the file, of
    a function of its interface, or, for a component, of its framework's contract."""
    words = set()
    for path in common.files(root, ".c", ".h", ".py", ".sh", under=("test",)):
        words.add(re.sub(r"^test_", "", os.path.splitext(os.path.basename(path))[0]))
        words.update(re.findall(r"\bP(?:X|MIx)_\w+|\bpx_\w+", common.read(root, path)))
    for path in common.files(root, ".c", under=("core", "components")):
        names = {os.path.basename(path)[:-2]}
        names.update(name for name, _ in functions(common.read(root, path))
                     if name.startswith(("px_", "PMIx_")))
        if path.startswith("components/"):
            names.add("contract_" + path.split("/")[1])
        if not names & words:
            yield path


def check(root, _build):
    large, allowed = measure(root), allowances(root)
    violations = []
    for what, lines in large.items():
        limit = MAX_FUNCTION if ":" in what else MAX_FILE
        if lines > max(limit, allowed.get(what, 0)):
            violations.append("%s: %d, limit %d" % (what, lines, max(limit, allowed.get(what, 0))))
    for what, lines in allowed.items():
        if large.get(what, 0) < lines:
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
    def function(name, lines):
        return "int\n%s(int a)\n{\n%s}\n" % (name, "    a++;\n" * (lines - 2))

    common.write(root, "core/base/long.c", "int a;\n" * (MAX_FILE + 1))
    common.write(root, "core/base/grown.c", "int a;\n" * (MAX_FILE + 20))
    common.write(root, "core/base/old.c", "int a;\n" * (MAX_FILE + 20))
    common.write(root, "core/base/f.c", "#define X \\\n    1\n" + function("fits", MAX_FUNCTION)
                 + function("sprawls", MAX_FUNCTION + 1))
    common.write(root, "test/unit/long.c", function("tests", MAX_FILE))
    common.write(root, ALLOW, "core/base/grown.c %d\ncore/base/old.c %d # as it was\n"
                 "core/base/gone.c 600\n" % (MAX_FILE + 10, MAX_FILE + 20))
    return ["core/base/long.c: ", "core/base/grown.c: ", "core/base/f.c:sprawls: ",
            "core/base/gone.c: ", "test/unit/long.c: "]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(sys.argv[2])
    else:
        common.main(check, sample, lambda root: [print("no test knows %s" % p) for p in untested(root)])
