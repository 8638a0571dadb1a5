#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documents as pages. A link in a document leads to a file, and to a heading of it. A page that a document names exists,
and stands in the navigation of docs/site.py. Pictures are made from their texts by docs/pictures/picture.py (--update
makes them). Each exported function has a manual page, with a name, a synopsis, a description and a return value; pages
that a manual page refers to exist."""
import importlib.util
import os
import re
import sys
import tempfile

import common

TOP = ("README.md", "HACKING.md", "CHANGELOG.md", "SECURITY.md")
LINK = re.compile(r"\]\(([^()\s]+)\)")
NAMED = re.compile(r"`(docs/(?:adr/)?[\w-]+\.md)`")
HEADING = re.compile(r"^#+ +(.*)$", re.M)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
MADE = ("docs/attributes.md",)  # by the build
DATA = "test/conformance/abi/data/"
SECTION = re.compile(r'^\.SH "?([A-Z ]+?)"?\n((?:(?!\.SH).*\n)+)', re.M)
REFERENCE = re.compile(r"\\fB(PMIx_\w+)\\fR\(3\)")


def load(root, path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], os.path.join(root, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def anchors(text):
    """Returns the anchors of a page's headings."""
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", h.lower()).strip()) for h in HEADING.findall(text)}


def check_links(root):
    documents = [p for p in common.files(root, ".md", under=("docs",))] + [p for p in TOP if os.path.isfile(os.path.join(root, p))]
    for path in documents:
        text = common.read(root, path)
        for target in LINK.findall(CODE.sub("", text)):
            if "://" in target:
                continue
            name, _, anchor = target.partition("#")
            found = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(os.path.join(root, found)):
                yield "%s: no such file: %s" % (path, target)
            elif anchor and anchor not in anchors(common.read(root, found)):
                yield "%s: no such heading: %s" % (path, target)
        for name in NAMED.findall(text):
            if name not in MADE and not os.path.isfile(os.path.join(root, name)):
                yield "%s: no such page: %s" % (path, name)


def check_navigation(root):
    listed = {name for _, *names in load(root, "docs/site.py").NAVIGATION for name in names}
    for path in common.files(root, ".md", under=("docs",)):
        if os.path.dirname(path) == "docs" and os.path.basename(path) not in listed:
            yield "docs/site.py: no chapter has %s" % path


def pictures(root, update=False):
    """Yields a line for each picture that differs from its text."""
    module = load(root, "docs/pictures/picture.py")
    for path in common.files(root, ".txt", under=("docs/pictures",)):
        target = path[:-4] + ".svg"
        drawn = module.draw(common.read(root, path))
        full = os.path.join(root, target)
        if not os.path.isfile(full) or common.read(root, target) != drawn:
            if update:
                common.write(root, target, drawn)
            yield "%s: is not made from %s (pages.py --update ROOT)" % (target, path)


def check_functions(root, folder):
    load(root, "docs/man/functions.py").make(root, folder, "")
    exported = {line.split("\t")[0] for table in ("functions.tsv", "extensions.tsv")
                for line in common.read(root, DATA + table).splitlines()[1:] if line.strip()}
    pages = {name[:-2] for name in os.listdir(folder)}
    for name in sorted(exported - pages):
        yield "%s.3: no such page" % name
    for name in sorted(pages):
        text = common.read(folder, name + ".3")
        sections = dict(SECTION.findall(text))
        for wanted in ("NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE"):
            if not sections.get(wanted, "").strip():
                yield "%s.3: no section %s" % (name, wanted)
        if not re.match(name + r" \\- \S", sections.get("NAME", "")) or name + "(" not in sections.get("SYNOPSIS", ""):
            yield "%s.3: no name, or no prototype" % name
        for other in set(REFERENCE.findall(text)) - pages:
            yield "%s.3: no such page: %s" % (name, other)


def check(root, _build):
    with tempfile.TemporaryDirectory() as folder:
        functions = list(check_functions(root, folder))
    return list(check_links(root)) + list(check_navigation(root)) + list(pictures(root)) + functions


def sample(root, _build):
    common.write(root, "docs/a.md", "# A page\n[b](b.md) [c](c.md) [h](#a-page) [i](#no) `docs/d.md` `[e](f)`\n")
    common.write(root, "docs/b.md", "[a](a.md#a-page) <https://x/y> [x](https://x/(y))\n")
    common.write(root, "docs/site.py", "NAVIGATION = ((\"A\", \"a.md\"),)\n")
    common.write(root, "docs/pictures/picture.py", "def draw(text):\n    return text.upper()\n")
    common.write(root, "docs/pictures/p.txt", "x")
    common.write(root, "docs/pictures/p.svg", "y")
    common.write(root, "docs/pictures/q.txt", "q")
    common.write(root, "docs/pictures/q.svg", "Q")
    common.write(root, DATA + "functions.tsv", "name\nPMIx_A\nPMIx_B\n")
    common.write(root, DATA + "extensions.tsv", "name\nPMIx_C\n")
    page = ".SH NAME\n%s \\- x\n.SH SYNOPSIS\nvoid %s(void)\n.SH DESCRIPTION\n%s\n.SH \"RETURN VALUE\"\nNone.\n"
    texts = {"PMIx_A.3": page % ("PMIx_A", "PMIx_A", "\\fBPMIx_B\\fR(3) \\fBPMIx_Z\\fR(3)"),
             "PMIx_B.3": (page % ("PMIx_X", "PMIx_B", "x")).replace("None.\n", "")}
    common.write(root, "docs/man/functions.py", "def make(root, folder, version):\n"
                 "    for name, text in %r.items():\n        open(folder + \"/\" + name, \"w\").write(text)\n" % texts)
    return ["docs/a.md: no such file: c.md", "docs/a.md: no such heading: #no", "docs/a.md: no such page: docs/d.md",
            "docs/site.py: no chapter has docs/b.md", "docs/pictures/p.svg: is not made", "PMIx_C.3: no such page",
            "PMIx_A.3: no such page: PMIx_Z", "PMIx_B.3: no section RETURN VALUE", "PMIx_B.3: no name"]


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    if sys.argv[1:2] == ["--update"] and len(sys.argv) == 3:
        print("\n".join(pictures(sys.argv[2], update=True)))
        sys.exit()
    common.main(check, sample)
