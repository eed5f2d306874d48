"""Figures of planning: nothing hides behind something else, numbers as people write them."""

from __future__ import annotations

import numpy as np
import pytest

from selica import catalogue
from selica.plots import plot_comparison, plot_planted, plot_requirement
from selica.plots.style import line_style


def test_equal_settings_are_both_seen():
    figure = plot_comparison(["a", "a"], ["best", "default"], [0.5, 0.5], [0.1, 0.1], 0.1)
    best, default, *keys = figure.axes[0].get_lines()
    assert [key.get_xdata().size for key in keys] == [0, 0]  # of the legend
    assert default.get_markerfacecolor() == "none"
    assert best.get_markerfacecolor() != "none"
    assert best.get_markersize() < default.get_markersize()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["best", "default"]


@pytest.mark.parametrize(
    ("x", "labels"),
    [
        ([100, 10_000, 1_000_000], ["100", "10,000", "1,000,000"]),
        ([0.1, 0.3, 0.5], ["0.1", "0.2", "0.5"]),
    ],
)
def test_ticks_are_plain_numbers(x, labels):
    figure = plot_requirement(["a"], [(np.array(x), np.array([0.1, 0.5, 0.9]))], [x[1]], 0.5, "x")
    figure.canvas.draw()
    (axes,) = figure.axes
    shown = [text.get_text() for text in axes.get_xticklabels()]
    assert set(labels) <= set(shown)
    assert not [text for text in shown if "e" in text or "10^" in text]
    assert axes.get_legend() is None  # it is below, where no curve runs
    assert len(figure.legends) == 1


def test_planted_signals_beside_theory():
    spans = [(0.5, 0.4, 0.6), (0.3, 0.25, 0.4)], [(0.1, 0.0, 0.2), (0.05, 0.0, 0.1)]
    figure = plot_planted(["a", "b"], *spans, 0.1, [0.45, None], [None, None])
    left, right = figure.axes
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["theory, correlated columns", "simulation, 95 % interval"]
    assert [text.get_text() for text in left.get_yticklabels()] == ["a", "b"]
    first, second, key = left.containers
    assert [float(bars.lines[0].get_xdata()[0]) for bars in (first, second)] == [0.5, 0.3]
    assert key.lines[0].get_xdata().size == 0  # of the legend
    (ends,) = second.lines[2]
    np.testing.assert_allclose(ends.get_segments()[0][:, 0], [0.25, 0.4])
    assert right.get_xlabel() == "false discovery rate"


def test_what_there_is_now_is_marked():
    figure = plot_requirement(["a"], [([1.0, 4.0], [0.1, 0.9])], [None], 0.5, "samples", now=2.0)
    assert [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_label() == "now"] == [
        2
    ]


METHODS = [one.name for one in catalogue.methods()]


def test_a_method_has_its_own_colour_and_mark_wherever_it_is_drawn():
    """However many others there are before it."""
    curve = ([1.0, 4.0], [0.1, 0.9])
    for names in (METHODS, METHODS[::-1]):
        many = len(names)
        lines = plot_requirement(names, [curve] * many, [None] * many, 0.5, "x").axes[0].lines
        marks = plot_comparison(names, ["best"] * many, [0.5] * many, [0.1] * many, 0.1)
        spans = [[(0.5, 0.4, 0.6)] * many] * 2
        planted = plot_planted(names, *spans, 0.1, [None] * many, [None] * many)
        for place, name in enumerate(names):
            known = catalogue.method(name)
            dots = planted.axes[0].containers[place].lines[0]
            for drawn in (lines[place], marks.axes[0].lines[place], dots):
                assert drawn.get_color() == known.colour
            assert lines[place].get_label() == known.label
            assert marks.axes[0].lines[place].get_marker() == known.marker
            assert line_style(name).dash == known.dash
        shown = [text.get_text() for text in marks.axes[0].get_yticklabels()]
        assert shown == [catalogue.method(name).label for name in names]


def test_names_of_ones_own_have_styles_that_differ():
    styles = [line_style(f"mine {rank}", rank=rank) for rank in range(4)]
    assert len({(style.colour, style.dash) for style in styles}) == 4
    assert styles[2].label == "mine 2"
