#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a manual page for each public function from its docstring: functions.py ROOT FOLDER VERSION. A page has the
prototype, the docstring, the return value, the conventions of the header, and related functions. docs/site.py takes
markdown() for its page of all functions."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../contrib/check"))
sys.dont_write_bytecode = True
import docs  # noqa: E402  (the parser of the headers)

FAMILY = re.compile(r"^PMIX_FAMILY\((\w+), (\w+)\)", re.M)
MEMBERS = (("construct", "void PMIx_{stem}_construct({kind} *obj);"), ("destruct", "void PMIx_{stem}_destruct({kind} *obj);"),
           ("create", "{kind} *PMIx_{stem}_create(size_t n);"), ("free", "void PMIx_{stem}_free({kind} *array, size_t n);"))
MEMBER = re.compile(r"^  (\w+)\([^)]*\)\s+(.*(?:\n {10,}.*)*)", re.M)
TAG = re.compile(r"^@(param|return)\b *", re.M)
FUNCTION = re.compile(r"\bPMIx_\w+\b")


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def families(book, root):
    """Adds the functions that PMIX_FAMILY declares, and completes those of a "Family of T". The conventions of a header
    have a text for each kind of member."""
    meanings = {"release": "destructs a T and frees it"}
    for shared in book.shared.values():
        meanings.update((name, squeeze(words)) for name, words in MEMBER.findall(shared))

    def doc_of(member, kind, more):
        words = re.sub(r"\bT\b", kind, meanings[member]).rstrip(".")
        return "/** %s%s. %s */" % (words[0].upper(), words[1:], more)

    for f in book.functions:
        family = re.match(r"Family of (\w+)[.;:]?", docs.plain(f.doc or ""))
        if family:
            f.doc = doc_of(f.name.rsplit("_", 1)[1], family.group(1), docs.plain(f.doc))
    for path in docs.common.files(root, ".h", under=("include",)):
        for stem, kind in FAMILY.findall(docs.common.read(root, path)):
            for member, form in MEMBERS:
                prototype = form.format(stem=stem, kind=kind)
                f = docs.Function("PMIx_%s_%s" % (stem, member), prototype.split("PMIx")[0].strip(), [],
                                  doc_of(member, kind, "Part of the family of %s." % kind), "", path + ":1", prototype)
                book.functions.append(f)
                book.by_name[f.name] = f


def conventions(book, f):
    """Returns the conventions of the function's header, then those of headers that it refers to."""
    def of(header):
        return next((g.shared for g in book.functions if g.shared and os.path.basename(g.where.split(":")[0]) == header), "")

    own = os.path.basename(f.where.split(":")[0])
    texts, queue = [f.shared or of(own)], [own]
    for header in queue:
        for match in docs.OTHER_HEADER.finditer(book.shared[header] + docs.plain(f.doc)):
            other = match.group(1) or match.group(2)
            if other in book.shared and other not in queue:
                queue.append(other)
                texts.append(of(other))
    return "\n\n".join(text.strip() for text in texts).replace("Conventions of this file, unless a function has its own:", "")


def parts(doc):
    """Splits a docstring into its text, the list of (arguments, text), and the text about the result."""
    text, params, result = docs.plain(doc), [], ""
    pieces = TAG.split(text)
    body = pieces[0]
    for kind, words in zip(pieces[1::2], pieces[2::2]):
        # An empty line ends a tag. The rest belongs to the body.
        words, _, rest = words.partition("\n\n")
        body += "\n\n" + rest
        if kind == "return":
            result = words
            continue
        names = re.match(r"[\w.]+(?:, *[\w.]+)*", words)
        params.append((names.group(), words[names.end():]))
    return body.strip(), params, result


def result_of(book, f, depth=0):
    """Returns the text about a function's result: its own, the first sentence, or that of the function it refers to."""
    body, _, result = parts(f.doc)
    if result:
        return squeeze(result)
    if f.result == "void":
        return "None."
    if docs.NAMES_RESULT.match(body):
        return squeeze(re.split(r"(?<=\.)\s", body)[0])
    sentences = [s for s in re.split(r"(?<=\.)\s+", squeeze(body)) if re.search(r"[Rr]eturns|or NULL", s)]
    if sentences:
        return " ".join(sentences)
    for name in docs.REFERENCE.findall(body):
        if name in book.by_name and depth < 4:
            return "As %s: %s" % (name, result_of(book, book.by_name[name], depth + 1))
    return squeeze(body)


class Roff:
    """Text as a manual page."""

    def __init__(self, known, own):
        self.known, self.own, self.lines = known, own, []

    def escape(self, text):
        text = text.replace("\\", "\\e").replace("-", "\\-")
        text = re.sub(r"@p (\w+)", r"\\fI\1\\fR", text)
        return FUNCTION.sub(lambda m: "\\fB%s\\fR(3)" % m.group() if m.group() in self.known - {self.own}
                            else "\\fB%s\\fR" % m.group(), text)

    def line(self, text):
        self.lines.append("\\&" + text if text[:1] in (".", "'") else text)

    def section(self, title):
        self.lines.append(".SH " + title)

    def paragraphs(self, text):
        """Prints paragraphs. Lists and indented lines keep their lines."""
        first = True
        for paragraph in re.split(r"\n\s*\n", text.strip()):
            if not paragraph.strip():
                continue
            if not first:
                self.lines.append(".PP")
            first = False
            if re.match(r"\s*- ", paragraph):
                for item in re.split(r"(?:^|\n)\s*- ", paragraph):
                    if item.strip():
                        self.lines.append(".IP \\- 2")
                        self.line(self.escape(squeeze(item)))
            elif re.search(r"^ {2,}\S", paragraph, re.M):
                self.lines.append(".nf")
                for row in paragraph.split("\n"):
                    self.line(self.escape(row))
                self.lines.append(".fi")
            else:
                self.line(self.escape(squeeze(paragraph)))

    def code(self, text):
        self.lines += [".nf"] + [row.replace("\\", "\\e").replace("-", "\\-") for row in text.split("\n")] + [".fi"]


def header_of(f):
    name = os.path.basename(f.where.split(":")[0])
    if name in ("pmix_server.h", "pmix_server_module.h"):
        return "pmix_server.h"
    return "pmix_tool.h" if name == "pmix_tool.h" else name if name == "pmix_envars.h" else "pmix.h"


def summary(body):
    first = re.split(r"(?<=[^.][.:])\s|\n\n", body)[0]
    return squeeze(first).rstrip(".:").replace("@p ", "")


def related_to(book, f, body):
    """Returns names of functions: those with the same docstring, and those that the docstring names."""
    names = [g.name for g in book.functions if g.doc is f.doc] + FUNCTION.findall(body)
    return sorted({n for n in names if n in book.by_name and n != f.name})[:12]


def page(book, f, version):
    body, params, _ = parts(f.doc)
    out = Roff(set(book.by_name), f.name)
    out.lines = [".\\\" SPDX-License-Identifier: BSD-3-Clause",
                 '.TH %s 3 "" "Tenon %s" "Functions of PMIx"' % (f.name, version)]
    out.section("NAME")
    out.line("%s \\- %s" % (f.name, re.sub(r"\\f.|\(3\)", "", out.escape(summary(body)))))
    out.section("SYNOPSIS")
    out.code("#include <%s>\n\n%s" % (header_of(f), f.prototype))
    out.section("DESCRIPTION")
    out.paragraphs(body)
    for names, words in params:
        out.lines += [".TP", "\\fI%s\\fR" % names]
        out.line(out.escape(squeeze(words)) or "\\&")
    out.section('"RETURN VALUE"')
    out.line(out.escape(result_of(book, f)))
    out.section("CONVENTIONS")
    out.paragraphs(conventions(book, f))
    out.section('"SEE ALSO"')
    out.line(", ".join(["\\fB%s\\fR(3)" % n for n in related_to(book, f, body)] +
                       ["\\fBpmixrun\\fR(1)", "\\fBpmix_info\\fR(1)"]))
    return "\n".join(out.lines) + "\n"


def markdown(root):
    """Returns one page with all functions, by header."""
    book = docs.Book(root)
    families(book, root)
    out, header = ["# Functions", ""], None

    def linked(text):
        text = re.sub(r"@p (\w+)", r"`\1`", text).replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
        return re.sub(r"PMIx\\_[\w\\]+", lambda m: "[%s](#%s)" % (m.group(), m.group().replace("\\", "").lower())
                      if m.group().replace("\\", "") in book.by_name else m.group(), text)

    for f in sorted((f for f in book.functions if f.doc), key=lambda f: f.where.split(":")[0]):
        if header != f.where.split(":")[0]:
            header = f.where.split(":")[0]
            out += ["## " + os.path.basename(header), "", "```text", conventions(book, f).strip(), "```", ""]
        body, params, _ = parts(f.doc)
        out += ["### " + f.name, "", "```c", f.prototype, "```", ""]
        out += [linked(squeeze(p)) + "\n" for p in re.split(r"\n\s*\n", body)]
        out += ["- *%s* - %s" % (linked(names), linked(squeeze(words))) for names, words in params]
        out += ["", "Returns: " + linked(result_of(book, f)), ""]
    return "\n".join(out)


def make(root, folder, version):
    book = docs.Book(root)
    families(book, root)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for f in book.functions:
        if f.doc:
            with open(os.path.join(folder, f.name + ".3"), "w", encoding="utf-8") as out:
                out.write(page(book, f, version))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    make(*sys.argv[1:])
