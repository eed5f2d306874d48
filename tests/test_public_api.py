"""The public names are those of tests/public_api.txt: nothing goes or changes by accident."""

from __future__ import annotations

from tests.public_api import LISTED, lines

ADDED = "New public names. If they are meant to stay, run `python -m tests.public_api`:"
GONE = (
    "Public names that are gone or take other arguments. A release that follows 1.0 may only do so "
    "after a warning (docs/compatibility.md, CONTRIBUTING.md: A change of the public interface):"
)


def complaint(listed: list[str], found: list[str]) -> str:
    """What to say about a difference; nothing where there is none."""
    parts = []
    for text, some, others in ((GONE, listed, found), (ADDED, found, listed)):
        different = [line for line in some if line not in set(others)]
        if different:
            parts.append("\n    ".join([text, *different]))
    return "\n".join(parts)


def test_the_public_names_are_those_that_are_listed() -> None:
    said = complaint(LISTED.read_text("utf-8").splitlines(), lines())
    assert not said, said


def test_what_is_added_and_what_is_gone_would_be_said() -> None:
    assert complaint(["f(x)"], ["f(x)"]) == ""
    assert complaint(["f(x)"], ["f(x)", "g()"]) == f"{ADDED}\n    g()"
    assert complaint(["f(x)", "g()"], ["f(x)"]) == f"{GONE}\n    g()"
    changed = complaint(["f(x)"], ["f(x, y=1)"])
    assert changed == f"{GONE}\n    f(x)\n{ADDED}\n    f(x, y=1)"
