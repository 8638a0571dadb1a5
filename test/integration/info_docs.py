#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documentation of parameters, compared with pmix_info, and of options. --update writes the tables of
docs/params.md. Needs TENON_BUILD, the build folder."""
import json
import os
import re
import subprocess
import sys

BUILD = os.environ["TENON_BUILD"]
DOCS = os.path.join(os.path.dirname(__file__), "../../docs")
INFO = os.path.join(BUILD, "contrib/tools/pmix_info")
OPTIONAL = [("plog", "journal"), ("psec", "munge")]  # components that need a package for the build
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
HOST_CHECK = os.path.join(BUILD, "contrib/tools/pmix_host_check")


def run(*args, program=INFO):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PMIX_")}
    env.update(HOME="/nonexistent", PMIX_SYSCONFDIR="/nonexistent")
    return subprocess.run([program, *args], env=env, check=True, capture_output=True, text=True).stdout


def read(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as f:
        return f.read()


def row(*cells):
    return "| %s |" % " | ".join(c.replace("|", "\\|") for c in cells)


def parameters(shown):
    """Returns a table for each component."""
    lines, group = [], None
    for p in shown["parameters"]:
        if group != (p["framework"], p["component"]):
            group = (p["framework"], p["component"])
            lines += ["", "### %s %s" % group, "", "| name | type | default | level | meaning |", "|---|---|---|---|---|"]
        meaning = p["help"]
        if p["type"] not in ("text", "bool", "list", "path", "version"):
            meaning += " (%s)" % p["expected"]
        if p["old_names"]:
            meaning += "; formerly " + p["old_names"]
        default = "" if p["default"] is None else "`%s`" % p["default"]
        lines.append(row("`%s`" % p["name"], p["type"], default, str(p["level"]), meaning))
    return "\n".join(lines[1:]) + "\n"


def synonyms(shown):
    lines = ["| name | here |", "|---|---|"]
    for s in shown["synonyms"]:
        lines.append(row("`%s`" % s["name"], "`%s`" % s["means"] if s["means"] else "does not apply: " + s["why_not"]))
    return "\n".join(lines) + "\n"


def put(text, name, body):
    pattern = r"(<!-- begin %s -->\n).*(<!-- end %s -->\n)" % (name, name)
    new, n = re.subn(pattern, lambda m: m.group(1) + body + m.group(2), text, flags=re.S)
    assert n == 1, "docs/params.md has no place for %s" % name
    return new


def without_optional(text, shown):
    """Returns the page without the tables of optional components that the build has not."""
    built = {(c["framework"], c["name"]) for c in shown["components"]}
    for part in OPTIONAL:
        if part not in built:
            text = re.sub(r"### %s %s\n.*?\n(?=### |<!-- end)" % part, "", text, flags=re.S)
    return text


def plain(page):
    """Returns the text of a man page without markup."""
    page = re.sub(r"(?m)^\.\\\".*\n", "", page)
    return re.sub(r"\\f[BIRP]|\\&", "", page).replace("\\-", "-")


def wrong(shown):
    """Yields each error of the documentation."""
    text = read("params.md")
    text = without_optional(text, shown)
    for name, body in (("parameters", parameters(shown)), ("synonyms", synonyms(shown))):
        if put(text, name, body) != text:
            yield "docs/params.md: the table of %s is not that of pmix_info; run info_docs.py --update" % name
    for name, program in (("man/pmixrun.1", PMIXRUN), ("man/pmix_host_check.1", HOST_CHECK),
                          ("man/pmix_info.1", INFO)):
        page = plain(read(name))
        options = set(re.findall(r"(?<![\w-])--?[a-zA-Z]+", run("--help", program=program)))
        for option in sorted(options ^ set(re.findall(r"(?<![\w-])--?[a-zA-Z]+", page)) - {"-mca"}):
            yield "docs/%s: %s is in either --help or the page" % (name, option)
    for name in shown["paths"]:
        if name not in page:
            yield "docs/man/pmix_info.1: no word of %s" % name
    for line in run("--all", "--parsable").splitlines():
        if line.split(":")[0] + ":" not in page:
            yield "docs/man/pmix_info.1: no word of %s: lines" % line.split(":")[0]
    page = plain(read("man/pmix-mca-params.conf.5"))
    names = {p["name"] for p in shown["parameters"]}
    names |= {"%s_%s" % (c["framework"], c["name"]) for c in shown["components"]}
    for kind in sorted({p["type"] for p in shown["parameters"]} - {k for k in re.findall(r"\w+", page)}):
        yield "docs/man/pmix-mca-params.conf.5: no word of type %s" % kind
    for name in re.findall(r"\b(?:mca_base|client|server|embedded|tool|ptl|gds|psec|pcleanup|pfexec|piof|plog|iof)_\w+(?![\w*])", page + text):
        if name not in names and not any(s["name"].rstrip("*") in name for s in shown["synonyms"]) and \
                not name.startswith("mca_base_verbos"):
            yield "documentation: there is no parameter %s" % name


def main():
    shown = json.loads(run("--all", "--json"))
    if sys.argv[1:] == ["--update"]:
        text = read("params.md")
        for name, body in (("parameters", parameters(shown)), ("synonyms", synonyms(shown))):
            text = put(text, name, body)
        with open(os.path.join(DOCS, "params.md"), "w", encoding="utf-8") as f:
            f.write(text)
        return 0
    found = sorted(set(wrong(shown)))
    print("\n".join(found) or "documentation and tables agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
