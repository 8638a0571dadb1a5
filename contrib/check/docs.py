#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each public function has a docstring, directly above it or above the group it stands in (lines of
prototypes without an empty one between them), which is its contract:

- the result, if any: a "@return", or a first sentence that begins with a noun ("Number of ...") or
  "True if". The sentence for a pmix_status_t names statuses.
- its arguments: each is named in the text, unless it is the only one. A number of elements goes
  with its array.
- threads and blocking, and the source: chapter of the Standard, RFC, or that it is in neither.

A rule for many functions is stated once: in a comment before them in the same header ("conventions"), which
holds to the end of the file, or in another header that the comment names. "As PMIx_X" and "Returns as
PMIx_X" refer to the text of PMIx_X. A "@param" or "@p" without an argument of that name is wrong.
"""
import os
import re

import common

CONVENTIONAL = {"info", "infos", "ninfo", "cbfunc", "directives", "ndirs"}
TOKEN = re.compile(r'/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S | re.M)
PROTOTYPE = re.compile(r"^(?!typedef|static|extern|return|#)([a-z][\w ]*?[ *]+)(PMIx_\w+)\(", re.M)
NAMES_RESULT = re.compile(r"(Whether|True if|Number|Name|Names|Text|Copy|Key|Size|The|An?|Next|Library) ")
REFERENCE = re.compile(r"\b(?:[Aa]s|[Ll]ike|[Ss]ee)\s+(?:for\s+)?(PMIx_\w+)")
OTHER_HEADER = re.compile(r"(pmix\w*\.h),?\s+whose\s+conventions|(?:conventions|top)\s+of\s+(pmix\w*\.h)")


class Function:
    def __init__(self, name, result, params, doc, shared, where, prototype=""):
        self.name, self.result, self.params = name, result, params
        self.doc, self.shared, self.where, self.prototype = doc, shared, where, prototype


def plain(comment):
    """Returns a comment's text without the frame."""
    lines = re.sub(r"^/\*\*?|\*/$", "", comment).splitlines()
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines).strip()


def arguments(text, at):
    """Returns the names of the arguments in the list that begins at text[at], and the end of the list."""
    depth, start, names, i = 1, at, [], at
    while depth:
        if text[i] in "([":
            depth += 1
        elif text[i] in ")]":
            depth -= 1
        if depth == 0 or (depth == 1 and text[i] == ","):
            names += re.findall(r"(\w+)\s*(?:\[[^]]*\])*$", text[start:i].strip())
            start = i + 1
        i += 1
    return [n for n in names if n != "void"], i


def read_header(root, path):
    """Returns the functions of a header, in order, and the joined text of all plain comments."""
    text = common.read(root, path)
    blanked = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    comments = [(m.start(), m.end(), m.group()) for m in TOKEN.finditer(text)
                if m.group().startswith("/*")]
    functions, shared, doc, last_end = [], "", None, 0
    events = sorted([(c[0], "comment", c) for c in comments] +
                    [(m.start(), "function", m) for m in PROTOTYPE.finditer(blanked)],
                    key=lambda e: e[0])
    for start, kind, what in events:
        if kind == "comment":
            if what[2].startswith("/**"):
                doc, last_end = what[2], what[1]
            elif what[2].startswith("/*\n"):
                shared += "\n" + plain(what[2])
                doc = None
            continue
        gap = re.sub(r"/\*.*?\*/", "", text[last_end:start], flags=re.S)
        if doc is not None and (gap.count("\n") > 1 or gap.strip()):
            doc = None
        params, end = arguments(blanked, what.end())
        last_end = blanked.index(";", end - 1) + 1
        functions.append(Function(what.group(2), what.group(1).strip(), params, doc, shared,
                                  "%s:%d" % (path, text.count("\n", 0, start) + 1), text[start:last_end]))
    return functions, shared + "\n" + " ".join(plain(c[2]) for c in comments[:3]
                                               if not c[2].startswith("/**"))


class Book:
    """All public headers."""

    def __init__(self, root):
        self.functions, self.shared = [], {}
        for path in common.files(root, ".h", under=("include",)):
            if os.path.dirname(path) == "include":
                found, shared = read_header(root, path)
                self.functions += found
                self.shared[os.path.basename(path)] = shared
        self.by_name = {f.name: f for f in self.functions}

    def conventions(self, f):
        header = os.path.basename(f.where.split(":")[0])
        text, seen = f.shared, {header}
        queue = [self.shared[header], plain(f.doc)]
        while queue:
            for match in OTHER_HEADER.finditer(queue.pop()):
                other = match.group(1) or match.group(2)
                if other in self.shared and other not in seen:
                    seen.add(other)
                    text += self.shared[other]
                    queue.append(self.shared[other])
        return text

    def text_of(self, f, depth=0):
        """Returns a function's docstring with all docstrings that it refers to."""
        text = plain(f.doc) if f.doc else ""
        for name in REFERENCE.findall(text) if depth < 4 else []:
            if name in self.by_name and name != f.name:
                text += "\n" + self.text_of(self.by_name[name], depth + 1)
        return text


def is_counted(param, params):
    """nprocs goes with procs, n with the one array there is."""
    return param == "n" or any(param == "n" + p or param == "n" + p + "s" or
                               (param.startswith("n") and p.startswith(param[1:-1]))
                               for p in params if p != param)


def violations_of(book, f, group):
    if f.doc is None:
        return ["no docstring directly above"]
    own, text = plain(f.doc), book.text_of(f)
    everything = text + "\n" + book.conventions(f)
    found = []
    if own.startswith("Family of"):
        if "Families" not in everything:
            found.append("of a family that no comment before explains")
        return found
    if f.result == "pmix_status_t" and not re.search(r"(@return|[Rr]eturns).*PMIX_", text, re.S):
        found.append("does not say which statuses it returns")
    elif f.result != "void" and not re.search(r"@return|[Rr]eturns|or NULL", text) \
            and not NAMES_RESULT.match(own):
        found.append("does not say what it returns")
    own_params = [p for p in f.params if p not in CONVENTIONAL and not p.endswith("cbdata") and
                  not is_counted(p, f.params)]
    for param in own_params if len(own_params) > 1 else []:
        if not re.search(r"\b%s\b" % re.escape(param), text):
            found.append("does not say what %s is" % param)
    known = {p for g in group for p in g.params}
    for names in re.findall(r"@param +([\w, ]+?)(?:  |$)", own, re.M) + re.findall(r"@p (\w+)", own):
        found += ["names %s, which is no argument" % n for n in re.split(r", *", names)
                  if n not in known]
    if not re.search(r"\bthreads?\b", everything):
        found.append("does not say which threads may call")
    if not re.search(r"\b(un)?block(s|ed|ing)?\b|\bwaits?\b", everything, re.I):
        found.append("does not say whether it blocks")
    if not re.search(r"\bStandard\b|\bRFC\b", everything):
        found.append("does not say where it comes from")
    return found


def check(root, _build):
    book = Book(root)
    violations = []
    for f in book.functions:
        group = [g for g in book.functions if g.doc is f.doc and g.where.split(":")[0] ==
                 f.where.split(":")[0]] if f.doc else [f]
        violations += ["%s: %s %s" % (f.where, f.name, what) for what in
                       violations_of(book, f, group)]
    return violations


def sample(root, _build):
    common.write(root, "include/pmix.h", """\
/* Conventions of this file:
 */
/*
 * Any thread may call. A function blocks until it is done.
 * PMIx Standard 5.0.
 *
 * Families: construct(T) makes a T.
 */
/** Family of pmix_x_t. */
void PMIx_X_construct(void *x);
void PMIx_X_destruct(void *x);

void PMIx_Bare(void);

/**
 * Do it.
 *
 * @param who  to
 * @return PMIX_SUCCESS; PMIX_ERROR
 */
pmix_status_t PMIx_Good(int who, const pmix_info_t info[], size_t ninfo);

/** As PMIx_Good, without waiting. */
pmix_status_t PMIx_Good_nb(int who, pmix_cb_t cbfunc, void *cbdata);

/** Whether it is. */
bool PMIx_Is(void);

/** Do something. */
int PMIx_Silent(void);

/** Do something. @return 0 if it was done */
pmix_status_t PMIx_Vague(void);

/** Do something. @return PMIX_SUCCESS */
pmix_status_t PMIx_Argument(int what, int how);

/** Do something to @p that. */
void PMIx_Stranger(int what, int how);
""")
    common.write(root, "include/pmix_more.h", """\
/* More of pmix.h, whose conventions hold. */
/** Do it. */
void PMIx_More(void);
""")
    common.write(root, "include/pmix_util.h", "/** Do it. */\nvoid PMIx_Alone(void);\n")
    return ["PMIx_Bare no docstring", "PMIx_Silent does not say what it returns",
            "PMIx_Vague does not say which statuses", "PMIx_Argument does not say what what is",
            "PMIx_Argument does not say what how is", "PMIx_Stranger does not say what what is",
            "PMIx_Stranger does not say what how is", "PMIx_Stranger names that",
            "PMIx_Alone does not say which threads", "PMIx_Alone does not say whether it blocks",
            "PMIx_Alone does not say where"]


if __name__ == "__main__":
    common.main(check, sample)
