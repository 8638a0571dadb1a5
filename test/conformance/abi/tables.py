# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the tables of data/, and the value of a row that holds here."""
import collections
import os

import choices

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
NAMES = ("functions", "extensions", "objects", "constants", "attributes", "structs", "callbacks",
         "macros")

# Newest release first, the development branch last.
RELEASES = ("v6.1.0", "v5.0.8", "v4.2.2", "master")

Row = collections.namedtuple("Row", "line cells")


def path(name, folder=DATA):
    return os.path.join(folder, name + ".tsv")


def read(name, folder=DATA):
    """Returns the rows of a table, each with its line in the file."""
    with open(path(name, folder), encoding="utf-8") as f:
        lines = f.read().split("\n")
    header = lines[0].split("\t")
    return [Row(number, dict(zip(header, line.split("\t"))))
            for number, line in enumerate(lines[1:], 2) if line]


def count(name, folder=DATA):
    """Returns the number of rows of a table: all lines but the first."""
    with open(path(name, folder), "rb") as f:
        return f.read().count(b"\n") - 1


def title(row):
    """Returns the name of the row in reports."""
    cells = row.cells
    name = cells.get("name") or cells["type_name"]
    return name + ("." + cells["member"] if cells.get("member") else "")


def value(row, build):
    """Returns the value that holds here, in a table with a column for each release; None for a row with differing
    releases and without a decision. build: the library's own values, by name."""
    decided = choices.RELEASE.get(title(row))
    if decided:
        return build[title(row)] if decided[0] == "build" else row.cells[decided[0]]
    found = [row.cells[r] for r in RELEASES if row.cells[r]]
    if not found or any(v != found[0] for v in found):
        raise ValueError("the releases differ and choices.py does not decide")
    return found[0]
