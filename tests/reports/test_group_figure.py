"""The map of groups as a part of a page, and figures of groups."""

from __future__ import annotations

import re

import numpy as np
import pytest

import selica
from selica.reports.figure import figures
from selica.reports.group_figure import group_svg
from selica.reports.page import page
from selica.selectors import GroupMap


@pytest.mark.parametrize("picked", [[0, 1, 2], [57, 58, 59], range(25), range(0, 60, 2), [30]])
def test_names_of_selected_groups_do_not_touch(picked):
    selected = np.zeros(60, dtype=bool)
    selected[list(picked)] = True
    names = tuple(f"g{j}" for j in range(60))
    drawn = group_svg(GroupMap(names, np.arange(60), names, selected, np.eye(60), np.zeros((0, 5))))
    places = [float(y) for y in re.findall(r'<text class="picked" x="[\d.]+" y="([\d.]+)"', drawn)]
    assert len(places) == selected.sum()
    apart = min(13.0, 380.0 / len(places))
    assert np.all(np.diff(places) >= apart - 0.11)
    assert min(places) > 4.0
    assert max(places) < 384.0
    if len(places) == 1:
        assert places[0] == pytest.approx(30.5 * 380.0 / 60.0 + 4.0, abs=0.06)


def test_bars_of_groups_differ_and_have_no_sign():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((120, 8))
    X = np.repeat(Z, 3, axis=1) + 0.4 * rng.standard_normal((120, 24))
    names = [f"hsa-mir-{100 + j}" for j in range(24)]
    table = dict(zip(names, X.T, strict=True))
    table |= {"alone": rng.standard_normal(120)}
    table |= {"y": Z[:, 0] - Z[:, 1] - table["alone"] + 0.5 * rng.standard_normal(120)}
    found = selica.select(table, "y", method="lasso", lam=0.1, groups="correlation")
    assert len(found.selected) >= 3
    decided, effects, _ = figures(found)
    for one in (decided, effects):
        shown = re.findall(r"<text x=\"0\" y=\"14\">([^<]*)<title>", one.svg)
        assert len({*shown}) == len(shown)
        assert sum(name.endswith(" +2") for name in shown) >= 2
    assert effects.title == "How much each group contributes"
    assert "which has no direction" in effects.caption
    starts = re.findall(r'<rect class="on" x="([\d.]+)%"', effects.svg)
    assert len({*starts}) == 1  # every bar goes to the right
    assert "\N{MINUS SIGN}" in effects.svg  # the number of the single variable has its sign
    assert "<div class=scroll><svg" in page(found)
