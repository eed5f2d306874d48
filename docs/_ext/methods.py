"""What the catalogue says of methods, on the pages of docs/methods.

The directive `method-card` takes names of methods and shows what the catalogue says of each:
promise, conditions, and how it is run in Python and on the command line. `method-table` lists all
of them, each with a link to the page that has its name in a `method-card` directive.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from selica import catalogue
from selica.catalogue import Method

FOLDER = Path(__file__).parents[1] / "methods"
NAMED = re.compile(r"^```\{method-card\} (.*)$", re.MULTILINE)
"""Names that a page shows, in the source of the page."""


def pages() -> dict[str, str]:
    """Return the page of each method, by its name."""
    return {
        name: path.stem
        for path in sorted(FOLDER.glob("*.md"))
        for line in NAMED.findall(path.read_text("utf-8"))
        for name in line.split()
    }


def in_python(one: Method) -> str:
    """Return the call of a method, as code; a dash for one that cannot be run."""
    words = [f"{name}={value!r}" for name, value in one.preset.items()]
    asked = one.levels[:1] or tuple(one.usual)  # without it another method may be the default
    call = ", ".join([*(f"{name}=" for name in asked), *words])
    return f"`{one.class_name}({call})`" if one.class_name else "-"


def card(one: Method) -> str:
    """Return what the catalogue says of a method, as a table of Markdown."""
    rows = [
        ("promise", one.promise),
        ("rests on", one.rests_on),
        ("in Python", in_python(one)),
    ]
    if one.selector or one.genotypes:
        table = "cohort.bed --pheno y.txt" if one.genotypes else "table.csv --target y"
        rows.append(("command line", f"`selica select {table} --method {one.name}`"))
    predicted = "not predicted"
    if one.predictor is not None:
        predicted = f"`selica plan compare --method {one.name}`"
    elif one in catalogue.at_ideal():
        predicted = "`selica predict`, at the ideal threshold"
    rows.append(("its power is predicted by", predicted))
    head = [f"| `{one.name}` | {one.label} |", "|---|---|"]
    return "\n".join([*head, *(f"| {name} | {said} |" for name, said in rows)])


def table() -> str:
    """Return all methods as a table of Markdown."""
    page = pages()
    head = "| name | what it is | in Python | controls | promise |"
    rows = [
        f"| [{one.name}]({page[one.name]}.md) | {one.label} | {in_python(one)} | {one.controls} | "
        f"{one.promise} |"
        for one in catalogue.methods()
    ]
    return "\n".join([head, "|---" * 5 + "|", *rows])


def setup(app: Any) -> dict[str, bool]:
    """Add the directives."""
    from docutils import nodes
    from docutils.parsers.rst import Directive
    from docutils.statemachine import StringList

    class FromCatalogue(Directive):
        """A part of a page that is made from the catalogue."""

        def made(self) -> str:
            """Return it as Markdown."""
            raise NotImplementedError

        def run(self) -> list[nodes.Node]:
            """Return it as nodes."""
            self.state.document.settings.env.note_dependency(catalogue.__file__)
            place = nodes.container()
            lines = StringList(self.made().splitlines(), source=catalogue.__file__)
            self.state.nested_parse(lines, self.content_offset, place)
            return [place]

    class MethodCard(FromCatalogue):
        """Methods by name."""

        required_arguments = 1
        final_argument_whitespace = True

        def made(self) -> str:
            names = self.arguments[0].split()
            return "\n\n".join(card(catalogue.method(name)) for name in names)

    class MethodTable(FromCatalogue):
        """All methods."""

        def made(self) -> str:
            for path in FOLDER.glob("*.md"):
                self.state.document.settings.env.note_dependency(str(path))
            return table()

    app.add_directive("method-card", MethodCard)
    app.add_directive("method-table", MethodTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
