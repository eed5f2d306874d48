"""Text with spaces between columns."""

from __future__ import annotations

import pytest

from selica.tables.spaced import with_tabs


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"a b\n1 2\n", b"a\tb\n1\t2\n"),
        (b"  a   b\n 10   2 \n", b"a\tb\n10\t2\n"),
        (b'"a b" c\n"x y" 2\n', b"a b\tc\nx y\t2\n"),
        (b"a b\nr1 1 2\n", b"a\tb\nr1\t1\t2\n"),
    ],
)
def test_spaces_become_tabs(text, found):
    assert with_tabs(text) == found


@pytest.mark.parametrize(
    "text",
    [
        b"a,b\n1,2\n",
        b"a b,c\n1,2\n",
        b"my name\n1\n2\n",
        b"a b\n",
        b"a\n1\n",
        b"# note here\na,b\n1,2\n",
        b"",
    ],
)
def test_other_text_is_left_alone(text):
    assert with_tabs(text) is None
