#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plain words in comments, messages, identifiers and documents: no comment that begins with a word whose noun
is elsewhere, no pronoun of a person for a process, no verb of people, no private word, no short form of "is not a",
no comment over 88 columns (a row of a table of macros may be longer). "words.py --list ROOT PREFIX..." prints the
findings of some files."""
import collections
import os
import re
import sys

import common

COLUMNS = 88
TREES = ("core", "components", "frameworks", "include", "contrib", "docs", "test")
RELEASED = "test/abi-archive/"  # headers as they were released
FILES = ("README.md", "HACKING.md", "SECURITY.md", "CHANGELOG.md")
PROSE = (".md", ".1", ".5", ".txt")
# Put together from parts, so that this file passes.
RELATIVE = re.compile(r"\b(Wh" r"o|Wh" r"at|Wh" r"oever|Wh" r"atever|Wh" r"ose)\b")
PERSON = re.compile(r"\b(h" r"e|h" r"im|h" r"is|h" r"imself|some" r"body|no" r"body|any" r"body|"
                    r"every" r"body|who" r"ever)\b", re.IGNORECASE)
# A comment begins with a noun or a verb. These words begin a sentence whose noun is elsewhere.
OPENING = re.compile(r"/\*+\s+(O" r"f|Th" r"at|Tho" r"se|Whe" r"ther|Whi" r"ch|Who" r"se|B" r"y|A" r"s|It" r"s|No" r"ne|"
                     r"El" r"se|Wh" r"o|Wh" r"at)\b")
VERBS = (r"tel" r"ls?|tol" r"d|tel" r"ling|hea" r"rs?|hea" r"rd|sa" r"ys?|sai" r"d|wis" r"h(?:es|ed)?|sea" r"ts?|sea" r"ted|"
         r"patien" r"ce|suspici" r"ons?|linge" r"rs?|gif" r"ts?")
VERB = re.compile(r"\b(%s)\b" % VERBS, re.IGNORECASE)
IDENTIFIER = re.compile(r"(?:\b|_)(%s)(?=_|\b)" % VERBS, re.IGNORECASE)
SHORT_NOT = re.compile(r"\b(?:is|are) n" r"o [a-z]")
# A comment or a string. Other text is skipped one character at a time.
C_TEXT = re.compile(r"(?P<comment>/\*.*?\*/|//[^\n]*)|"
                    r"\"(?P<string>(?:\\.|[^\"\\\n])*)\"|'(?:\\.|[^'\\])'", re.DOTALL)
HASH_TEXT = re.compile(r"(?P<comment>(?<!\S)#[^\n]*)|\"\"\"(?P<string>.*?)\"\"\"", re.DOTALL)


def pieces(path, text):
    """Yields (line, text, is it a comment) of all text for people in a file."""
    if path.endswith(PROSE):
        yield 1, text, False
        return
    pattern = C_TEXT if path.endswith((".c", ".h", ".def")) else HASH_TEXT
    for m in pattern.finditer(text):
        words = m.group("comment") or m.group("string")
        if words:
            yield text.count("\n", 0, m.start()) + 1, words, bool(m.group("comment"))


def is_question(text):
    """True if the sentence that begins here is a question."""
    mark = re.search(r"[.?;](?=\s|$|\))|\*/", text)
    return bool(mark) and mark.group() == "?"


def in_code(text):
    """Returns the text without comments and strings, on the same lines."""
    return C_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def look(path, text):
    """Yields (kind, line, text) of each finding in a file."""
    is_c = path.endswith((".c", ".h", ".def"))
    for line, words, comment in pieces(path, text):
        kinds = [("person", PERSON), ("verb", VERB), ("short", SHORT_NOT)]
        if comment and is_c:
            kinds.append(("opening", OPENING))
        for m in RELATIVE.finditer(words):
            if not is_question(words[m.start():]):
                yield "relative", line + words.count("\n", 0, m.start()), m.group()
        for kind, pattern in kinds:
            for m in pattern.finditer(words):
                yield kind, line + words.count("\n", 0, m.start()), m.group()
    if not is_c:
        return
    code = in_code(text)
    code = re.sub(r"\bSO_LIN" r"GER\b|\bstruct lin" r"ger\b", "", code)  # of the system
    for m in IDENTIFIER.finditer(code):
        yield "identifier", code.count("\n", 0, m.start()) + 1, m.group(1)
    inside = {n for line, words, comment in pieces(path, text) if comment
              for n in range(line, line + words.count("\n") + 1)}
    for number, full in enumerate(text.split("\n"), 1):
        if number in inside and len(full) > COLUMNS and not full.startswith(("#define ", "\t")) \
                and not path.startswith("test/"):
            yield "columns", number, "%d columns" % len(full)


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "core" and len(parts) > 2 else parts[0]


def measure(root):
    """Returns {(room, kind): lines found}."""
    found = collections.defaultdict(list)
    paths = common.files(root, ".c", ".h", ".def", ".py", ".sh", "meson.build", *PROSE, under=TREES)
    paths = [p for p in paths if not p.startswith(RELEASED)]
    for path in paths + [p for p in FILES if os.path.isfile(os.path.join(root, p))]:
        for kind, line, what in look(path, common.read(root, path)):
            found[room_of(path), kind].append("%s:%d: %s" % (path, line, what))
    return found


def check(root, _build):
    violations = []
    for (room, kind), lines in sorted(measure(root).items()):
        violations += ["%s: %d of kind \"%s\":" % (room, len(lines), kind)]
        violations += ["  " + line for line in lines]
    return violations


def sample(root, _build):
    relative, person = "Wh" + "o", "no" + "body"
    common.write(root, "core/base/a.c", "/* %s asks is answered. */\n" % relative)
    common.write(root, "core/rt/a.c", "/* One\n * that %s has. */\n" % person)
    common.write(root, "core/old/a.c", "/* %s, %s */\n" % (person, person))
    common.write(root, "core/link/a.h", "int a; /* %s */\n" % ("x" * COLUMNS))
    common.write(root, "components/ptl/a.c", 'log("%s is here");\n' % person)
    common.write(root, "docs/a.md", "Text.\n%s comes, goes.\n" % relative)
    common.write(root, "README.md", "For %s.\n" % person)
    common.write(root, "contrib/check/a.py", "# for %s\n" % person)
    common.write(root, "include/good.h",
                 "/* And %s is it? The process itself. */\n#define X \"%s\"\n"
                 "int %s; char c = '\"';\n#define Y 1 /* %s */\n"
                 % (relative, "y" * COLUMNS, person, "z" * COLUMNS))
    return ["core/base: 1 of kind \"relative\"", "core/base/a.c:1", "core/base: 1 of kind \"opening\"",
            "core/old: 2 of kind \"person\"", "core/old/a.c:1", "core/rt: 1 of kind \"person\"",
            "core/rt/a.c:2", "core/link: 1 of kind \"columns\"", "core/link/a.h:1",
            "components: 1", "components/ptl/a.c:1", "docs: 1", "docs/a.md:2", "README.md: 1", "README.md:1", "contrib: 1",
            "contrib/check/a.py:1"]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        for _, found_lines in sorted(measure(sys.argv[2]).items()):
            for found_line in found_lines:
                if found_line.startswith(tuple(sys.argv[3:])):
                    print(found_line)
    else:
        common.main(check, sample)
