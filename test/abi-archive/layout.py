#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Headers for components may only grow: layout.py ARCHIVED CURRENT INCLUDE..., each a folder with
tenon/, compiles both and compares every structure, enumerator and number that ARCHIVED has."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def names(folder):
    """(structures with their members, enumerators, numbers) of all headers of a folder"""
    structs, enumerators, numbers = {}, [], []
    tenon = os.path.join(folder, "tenon")
    for header in sorted(os.listdir(tenon)):
        with open(os.path.join(tenon, header), encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
        for name, body in re.findall(r"^struct (px_\w+) \{\n(.*?)^\}", text, re.S | re.M):
            structs[name] = []
            for declaration in body.split(";"):
                declaration = re.sub(r"__attribute__\(\(.*?\)\)\)?", "", declaration, flags=re.S)
                function = re.search(r"\(\*(\w+)\)\s*\(", declaration)
                if function:
                    structs[name].append(function.group(1))
                    continue
                structs[name] += [part.split()[-1].lstrip("*").split("[")[0]
                                  for part in declaration.split(",") if part.split()]
        for body in re.findall(r"^enum \w+ \{(.*?)\}", text, re.S | re.M):
            # How many there are may change: nobody stores it.
            enumerators += [e.split("=")[0].strip() for e in body.split(",")
                            if e.strip() and "_N_" not in e]
        numbers += re.findall(r"^#define (PX_\w*ABI) ", text, re.M)
    return structs, enumerators, numbers


def program(folder, known):
    structs, enumerators, numbers = known
    headers = sorted(os.listdir(os.path.join(folder, "tenon")))
    lines = ["#include <stdio.h>"] + ["#include <tenon/%s>" % h for h in headers] + ["int main(void){"]
    for name, members in structs.items():
        lines.append('printf("size %s %%zu\\n", sizeof(struct %s));' % (name, name))
        for m in members:
            lines.append('printf("member %s.%s %%zu+%%zu\\n", offsetof(struct %s, %s), '
                         "sizeof(((struct %s *)0)->%s));" % (name, m, name, m, name, m))
    for e in enumerators + numbers:
        lines.append('printf("number %s %%ld\\n", (long)%s);' % (e, e))
    return "\n".join(lines + ["return 0;}"])


def layout(folder, headers_of, known, includes):
    """What the compiler makes of the headers in folder, or its complaint."""
    with tempfile.TemporaryDirectory() as tmp:
        source, exe = os.path.join(tmp, "p.c"), os.path.join(tmp, "p")
        with open(source, "w", encoding="utf-8") as f:
            f.write(program(headers_of, known))
        done = subprocess.run([*os.environ.get("CC", "cc").split(), "-w", "-I" + folder,
                               *("-I" + i for i in includes), "-o", exe, source],
                              capture_output=True, text=True)
        if done.returncode:
            return None, [line for line in done.stderr.splitlines() if "error" in line]
        out = subprocess.run([exe], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) for line in out.splitlines()), []


def compare(archived, current, includes):
    known = names(archived)
    before, wrong = layout(archived, archived, known, includes)
    if before is None or len(before) < 50:
        return ["the archive itself does not compile: %s" % (wrong[:1] or "too little in it")]
    now, wrong = layout(current, archived, known, includes)
    if now is None:
        return wrong
    for what, value in before.items():
        if what.startswith("size "):
            if int(now[what]) < int(value):
                wrong.append("%s was %s, is %s" % (what, value, now[what]))
        elif now[what] != value:
            wrong.append("%s was %s, is %s" % (what, value, now[what]))
    return wrong


def self_test(archived, includes):
    """Each change is found, and one that only adds is not."""
    changes = [("component.h", "    uint32_t size; ", "    uint64_t size; ", True),
               ("component.h", "    const char *name;\n", "", True),
               ("param.h", "    PX_PARAM_KIND_BOOL,", "    PX_PARAM_KIND_NEW, PX_PARAM_KIND_BOOL,", True),
               ("pnet.h", "#define PX_PNET_ABI 1u", "#define PX_PNET_ABI 2u", True),
               ("services.h", "    uint32_t roles;", "    uint32_t more, roles;", True),
               ("component.h", "    uint32_t param_size;\n", "    uint32_t param_size;\n    void *more;\n", False)]
    wrong = []
    for header, old, new, bad in changes:
        with tempfile.TemporaryDirectory() as tmp:
            shutil.copytree(archived, tmp, dirs_exist_ok=True)
            path = os.path.join(tmp, "tenon", header)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            if old not in text:
                wrong.append("self-test: no %r in %s" % (old, header))
                continue
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace(old, new, 1))
            if bool(compare(archived, tmp, includes)) != bad:
                wrong.append("self-test: %r in place of %r is %s" %
                             (new, old, "not found" if bad else "found"))
    return wrong


if __name__ == "__main__":
    problems = compare(sys.argv[1], sys.argv[2], sys.argv[3:])
    if not problems:
        problems = self_test(sys.argv[1], sys.argv[3:])
    print("\n".join(problems) or "ok")
    sys.exit(1 if problems else 0)
