#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/launcher.md are made from the rows of contrib/tools/names/names_rows.c and
contrib/tools/engine/engine_rows.c. --update writes them."""
import os
import re
import sys

import common

SOURCE = "contrib/tools/names/names_rows.c"
ENGINES = "contrib/tools/engine/engine_rows.c"
PAGE = "docs/launcher.md"
MARK = "## Tables of the options\n"
ROW = re.compile(r'\{"([^"]+)", (NULL|"[^"]*"), ((?:NO_\w+|\s|"(?:\\.|[^"\\])*")+), (NULL|"[^"]*")\}|^    /\* (.*) \*/$', re.M)
TABLE = re.compile(r"struct names_row (\w+)\[\] = \{\n(.*?)\n\};", re.S)
HEAD = "| %s | argument | for `pmixrun` |\n|---|---|---|\n"


def meaning(as_, off, arguments):
    first, second = (re.sub(r"[][]", "", arguments).split() + ["", ""])[:2]
    for mark, text in (("%1", first), ("%2", second), ("%t", "SECONDS"), ("%P", "$PATH")):
        as_ = as_.replace(mark, text)
    if as_.startswith("! "):
        return "not supported: " + as_[2:]
    if as_.startswith("? "):
        return "a warning: " + as_[2:]
    text = "the words of `%s` below" % as_[1:] if as_.startswith("@") else "`%s`" % as_ if as_ else "nothing to do"
    return text + ("; false is not supported: " + off[2:] if off.startswith("! ") else "")


def tables(source):
    """Returns the text of all tables."""
    macros = dict(re.findall(r'^#define (NO_\w+)\s+"(.*)"$', source, re.M))

    def string(text):
        parts = re.findall(r'(NO_\w+)|"((?:\\.|[^"\\])*)"', text)
        return "".join(macros[name] if name else value.replace('\\"', '"') for name, value in parts)

    out = []
    for name, rows in TABLE.findall(source):
        is_options = name == "names_options"
        if not is_options:
            out.append("\n### Words of `%s`\n\n" % name + HEAD % "word")
        for names, arguments, as_, off, group in ROW.findall(rows):
            if group:
                out.append("\n### %s\n\n" % group + HEAD % "option")
                continue
            shown = ", ".join("`%s%s`" % ("" if not is_options else "--" if len(n) > 1 else "-", n) for n in names.split("|"))
            cells = (shown, "`%s`" % string(arguments) if arguments != "NULL" else "",
                     meaning(string(as_), string(off), string(arguments)))
            out.append("| %s |\n" % " | ".join(c.replace("|", "\\|") for c in cells))
    return "".join(out)


def engine_table(source):
    """Returns the text of the table of options for the engines."""
    macros = dict(re.findall(r'^#define ((?:NO|OWN)_\w+)\s+"(.*)"$', source, re.M))
    for name, text in macros.items():
        source = re.sub(r'"([!~]) " %s\b' % name, lambda m: '"%s %s"' % (m[1], text), source)
    out = ["\n### Options in an allocation\n\n| option | argument | `srun` | `flux run` |\n|---|---|---|---|\n"]
    for options, words, *engines in re.findall(r'\{"([^"]+)", (NULL|"[^"]*"), "([^"]*)", "([^"]*)"\}', source):
        cells = [", ".join("`%s`" % o for o in options.split("|")), "" if words == "NULL" else "`%s`" % words.strip('"')]
        for e in engines:
            e = e.replace("--nodelist=%1", "--nodelist=FILE") if "arbitrary" in e else e.replace("%1", words.strip('"') if "*" not in words else "*")
            cells.append("nothing to do" if not e else "not supported: " + e[2:] if e[0] == "!" else e[2:] if e[0] == "~" else "`%s`" % e)
        out.append("| %s |\n" % " | ".join(cells))
    return "".join(out)


def both(root):
    return tables(common.read(root, SOURCE)) + engine_table(common.read(root, ENGINES))


def parts(page):
    """Returns the page up to the tables, and the tables."""
    at = page.find(MARK)
    return (page, "") if at < 0 else (page[:at + len(MARK)], page[at + len(MARK):])


def check(root, _build):
    head, found = parts(common.read(root, PAGE))
    if found != both(root):
        return ["%s:%d: the tables are not current (names.py --update)" % (PAGE, head.count("\n") + 1)]
    return []


def update(root):
    head, _ = parts(common.read(root, PAGE))
    common.write(root, PAGE, head + both(root))


def sample(root, _build):
    common.write(root, SOURCE, '#define NO_B "b"\nconst struct names_row names_options[] = {\n    /* General */\n    {"aa|x", "0|1", '
                 '"! " NO_B, NULL},\n    {"cc", NULL, "@list", "! d"},\n    {"ff", "N M", "-n %2", NULL},\n};\nstatic const struct names_row list[] = {\n    {"e", NULL, '
                 '"", NULL},\n};\n')
    common.write(root, ENGINES, '#define NO_B "b"\nrows = {\n    {"-n|-np", "*", "--n=%1", "! " NO_B},\n    {"-x", NULL, "~ own", ""},\n')
    common.write(root, PAGE, "# x\n\n" + MARK)
    update(root)
    found = common.read(root, PAGE)
    for line in ("| `--aa`, `-x` | `0\\|1` | not supported: b |\n", "| `--cc` |  | the words of `list` below; false is not supported: d |\n",
                 "| `--ff` | `N M` | `-n M` |\n", "### Words of `list`\n",
                 "| `-n`, `-np` | `*` | `--n=*` | not supported: b |\n", "| `-x` |  | own | nothing to do |\n", "| `e` |  | nothing to do |\n"):
        assert line in found, found
    assert check(root, None) == []
    common.write(root, PAGE, found + "| x |\n")
    return [PAGE + ":4: the tables are not current"]


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    else:
        common.main(check, sample)
