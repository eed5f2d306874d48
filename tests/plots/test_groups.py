"""The map of groups."""

from __future__ import annotations

import numpy as np
import pytest

from selica.errors import ArgumentError
from selica.plots import plot_groups

SIZE = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.2], [0.1, 0.2, 1.0]])
GROUPS = np.array([0, 0, 1])
CHOSEN = np.array([True, False])
JOINS = np.array([[0.0, 0.0, 1.0, 0.0, 0.2], [0.5, 0.2, 2.0, 0.0, 0.85]])


def test_what_is_drawn():
    figure = plot_groups(
        SIZE, GROUPS, ["$a$ and 1 more", "c"], CHOSEN, JOINS, left_out=4, title="T"
    )
    tree, field, _ = figure.axes
    assert len(tree.lines) == 2
    np.testing.assert_array_equal(field.images[0].get_array(), SIZE)
    corners = sorted((patch.get_x(), patch.get_width()) for patch in field.patches)
    assert corners == [(-0.5, 2.0), (1.5, 1.0)]
    labels = field.get_yticklabels()
    assert [label.get_text() for label in labels] == [r"\$a\$ and 1 more", "c"]
    assert [label.get_fontweight() for label in labels] == ["bold", "normal"]
    assert "4 more groups not shown" in field.texts[0].get_text()
    figure.canvas.draw()


def test_one_variable_and_nothing_selected():
    figure = plot_groups(np.ones((1, 1)), np.array([0]), ["a"], np.array([False]), np.zeros((0, 5)))
    assert "no group is selected" in figure.axes[1].texts[0].get_text()
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"groups": np.array([0, 1])}, "groups must have one number"),
        ({"names": ["a"]}, "names and selected"),
        ({"selected": np.array([True])}, "names and selected"),
        ({"joins": JOINS[:1]}, "joins"),
        ({"correlations": SIZE[:2]}, "groups must have one number|correlations"),
    ],
)
def test_bad_input(change, said):
    good = {"correlations": SIZE, "groups": GROUPS, "names": ["a", "c"], "selected": CHOSEN,
            "joins": JOINS}  # fmt: skip
    with pytest.raises(ArgumentError, match=said):
        plot_groups(**(good | change))
