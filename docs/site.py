#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the site of the documents by mkdocs: site.py SOURCE_ROOT BUILD_ROOT. The pages stand in BUILD_ROOT/site/html.

The names of pages in code style, such as `docs/tour.md`, become links. One page has all functions."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "man"))
sys.dont_write_bytecode = True
import functions  # noqa: E402

TOP = ("README.md", "HACKING.md", "CHANGELOG.md", "SECURITY.md")
# Chapters of the site, in order. Decisions (adr/) and functions follow; check() of contrib/check/pages.py wants all pages.
NAVIGATION = (
    ("Tour", "tour.md"),
    ("Administrators", "admin.md", "packaging.md", "params.md", "security.md", "monitoring.md"),
    ("Launcher", "launcher.md", "launch.md", "output.md", "processes.md", "timeline.md"),
    ("Hosts", "integrating-a-host.md", "callbacks.md", "connected.md", "groups.md", "queries.md"),
    ("Vendors", "writing-a-component.md"),
    ("Tools", "tools.md"),
    ("Performance", "performance.md", "measuring.md", "notebook.md"),
    ("Coverage", "coverage.md", "standard.md", "attributes.md"),
    ("Developers", "architecture.md", "porting.md", "ports.md", "HACKING.md", "CHANGELOG.md", "SECURITY.md"),
)
# A code name of a page that is not inside a link already.
NAMED = re.compile(r"(?<!\[)`(?:docs/)?((?:adr/)?[\w-]+\.md)`(?!\])")
DECISION = re.compile(r"(?<![\w/\[])adr/(\d{4})\b(?!-)")
CODE = re.compile(r"(^```.*?^```)", re.M | re.S)


def linked(text, here, pages):
    """Returns the text of a page with links to the pages that it names."""
    up = "../" * here.count("/")
    decisions = {os.path.basename(p)[:4]: p for p in pages if p.startswith("adr/")}

    def named(m):
        return "[`%s`](%s%s)" % (m.group(1), up, m.group(1)) if m.group(1) in pages and m.group(1) != here else m.group()

    def decision(m):
        return "[adr/%s](%s%s)" % (m.group(1), up, decisions[m.group(1)]) if m.group(1) in decisions else m.group()

    parts = CODE.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = DECISION.sub(decision, NAMED.sub(named, parts[i]))
    return "".join(parts)


def make(root, build):
    site = os.path.join(build, "site")
    source = os.path.join(site, "source")
    shutil.rmtree(site, ignore_errors=True)
    os.makedirs(source)
    for name in os.listdir(os.path.join(root, "docs")):
        if name.endswith((".md", ".png")):
            shutil.copy(os.path.join(root, "docs", name), source)
    for folder in ("adr", "pictures"):
        shutil.copytree(os.path.join(root, "docs", folder), os.path.join(source, folder),
                        ignore=shutil.ignore_patterns("*.py", "*.txt", "__pycache__"))
    for name in TOP:
        shutil.copy(os.path.join(root, name), os.path.join(source, "index.md" if name == "README.md" else name))
    shutil.copy(os.path.join(build, "docs", "attributes.md"), source)
    with open(os.path.join(source, "functions.md"), "w", encoding="utf-8") as page:
        page.write(functions.markdown(root))
    pages = sorted(os.path.relpath(os.path.join(here, n), source) for here, _, names in os.walk(source)
                   for n in names if n.endswith(".md"))
    for path in pages:
        full = os.path.join(source, path)
        with open(full, encoding="utf-8") as page:
            text = page.read()
        with open(full, "w", encoding="utf-8") as page:
            page.write(linked(text, path, pages))
    config = os.path.join(site, "mkdocs.yml")
    with open(config, "w", encoding="utf-8") as out:
        out.write(configuration(source, pages))
    subprocess.run(["mkdocs", "build", "--strict", "-f", config, "-d", os.path.join(site, "html")], check=True)


def configuration(source, pages):
    """Returns the text of mkdocs.yml."""
    out = ["site_name: Tenon", "docs_dir: source", "theme: readthedocs", "use_directory_urls: false",
           "markdown_extensions: [tables, fenced_code, toc]", "nav:", "  - Overview: index.md"]
    for heading, *names in NAVIGATION:
        lines = ["    - %s" % name for name in names if name in pages]
        out += ["  - %s:" % heading, *lines] if lines else []
    out += ["  - Functions: functions.md", "  - Decisions:"]
    out += ["    - %s" % path for path in pages if path.startswith("adr/")]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    make(*sys.argv[1:])
