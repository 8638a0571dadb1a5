#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes an SVG picture from a text: picture.py FILE.txt [FILE.svg]. The first line is "stack TITLE" or "sequence TITLE".

stack: each line is a row of boxes, "HEADING: BOX | BOX | ...". A box is "NAME" or "NAME, TEXT"; a line "-- TEXT" is a border.
sequence: "lanes A | B | ..." names the lanes. Then each line is a step: "A -> B: TEXT" is an arrow, "A: TEXT" a note on a
lane, and "-- TEXT" the heading of a phase. Lines that begin with "#" are comments."""
import re
import sys
from xml.sax.saxutils import escape

FONT = 7.0  # the width of a letter
STYLE = ("text{font:13px sans-serif;fill:#222}.b{font-weight:bold}.s{font-size:11px;fill:#555}"
         ".box{fill:#eef3f8;stroke:#456}.note{fill:#fff8dc;stroke:#a98}.line{stroke:#456;fill:none}"
         ".lane{stroke:#bbb;stroke-dasharray:4 4}.phase{fill:#456}.w{fill:#fff;font-weight:bold}")


class Picture:
    def __init__(self, width):
        self.width, self.items = width, []

    def text(self, x, y, words, style="", anchor="middle"):
        self.items.append('<text x="%g" y="%g" text-anchor="%s" class="%s">%s</text>' % (x, y, anchor, style, escape(words)))

    def box(self, x, y, w, h, style):
        self.items.append('<rect x="%g" y="%g" width="%g" height="%g" rx="4" class="%s"/>' % (x, y, w, h, style))

    def line(self, x1, y1, x2, y2, style, more=""):
        self.items.append('<line x1="%g" y1="%g" x2="%g" y2="%g" class="%s"%s/>' % (x1, y1, x2, y2, style, more))

    def svg(self, title, height):
        return "\n".join(
            ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img">' % (self.width, height),
             "<title>%s</title>" % escape(title), "<style>%s</style>" % STYLE,
             '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
             '<path d="M0 0L8 4L0 8z" fill="#456"/></marker></defs>',
             '<rect width="100%" height="100%" fill="#fff"/>'] + self.items + ["</svg>", ""])


def stack(title, rows):
    left, width, y = 150, 1000, 40
    p = Picture(width)
    p.text(width / 2, 24, title, "b")
    for row in rows:
        if row.startswith("-- "):
            p.line(10, y + 8, width - 10, y + 8, "lane")
            p.text(width - 12, y + 4, row[3:], "s", "end")
            y += 22
            continue
        heading, _, boxes = row.partition(": ")
        boxes = [box.strip().partition(", ") for box in boxes.split(" | ")]
        p.text(12, y + 26, heading, "b", "start")
        w = (width - left - 10) / len(boxes)
        for i, (name, _, text) in enumerate(boxes):
            p.box(left + i * w, y, w - 8, 44, "box")
            p.text(left + i * w + (w - 8) / 2, y + (19 if text else 27), name, "b")
            p.text(left + i * w + (w - 8) / 2, y + 35, text, "s")
        y += 54
    return p.svg(title, y + 6)


def sequence(title, rows):
    lanes = [name.strip() for name in rows[0].partition(" ")[2].split("|")]
    gap, y = 230, 84
    p = Picture(gap * len(lanes))
    x = {name: gap * i + gap / 2 for i, name in enumerate(lanes)}
    steps = []
    for row in rows[1:]:
        arrow = re.match(r"(.+?) -> (.+?): (.*)", row)
        if row.startswith("-- "):
            steps.append((y, "phase", row[3:]))
            y += 36
        elif arrow:
            steps.append((y, "arrow", arrow.groups()))
            y += 34
        else:
            steps.append((y, "note", row.split(": ", 1)))
            y += 34
    p.text(p.width / 2, 24, title, "b")
    for name in lanes:
        p.line(x[name], 70, x[name], y, "lane")
        p.box(x[name] - 90, 40, 180, 30, "box")
        p.text(x[name], 60, name, "b")
    for at, kind, what in steps:
        if kind == "phase":
            p.box(8, at, p.width - 16, 22, "phase")
            p.text(18, at + 15, what, "w", "start")
        elif kind == "arrow":
            start, end, words = x[what[0]], x[what[1]], what[2]
            p.line(start, at + 22, end, at + 22, "line", ' marker-end="url(#tip)"')
            p.text((start + end) / 2, at + 16, words, "s")
        else:
            width = max(60, len(what[1]) * FONT * 0.85 + 12)
            p.box(x[what[0]] - width / 2, at + 4, width, 22, "note")
            p.text(x[what[0]], at + 19, what[1], "s")
    return p.svg(title, y + 10)


def draw(text):
    rows = [row for row in text.splitlines() if row.strip() and not row.startswith("#")]
    kind, _, title = rows[0].partition(" ")
    return {"stack": stack, "sequence": sequence}[kind](title, rows[1:])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as source:
        picture = draw(source.read())
    if len(sys.argv) == 2:
        sys.stdout.write(picture)
    else:
        with open(sys.argv[2], "w", encoding="utf-8") as target:
            target.write(picture)
