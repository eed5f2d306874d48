"""The order of words that have one."""

from __future__ import annotations

import pytest

from selica.tables.orders import known_order


@pytest.mark.parametrize(
    "order",
    [
        ["low", "medium", "high"],
        ["Low", "Mid", "HIGH"],
        ["none", "mild", "moderate", "severe"],
        ["never", "former", "current"],
        ["I", "II", "III", "IV"],
        ["stage I", "stage IIa", "stage IIb", "stage IX"],
        ["pT1", "pT2", "pT10"],
        ["G1", "G2a", "G2b"],
        ["1+", "2+", "3+"],
        ["PD", "SD", "PR", "CR"],
    ],
)
def test_known_orders(order):
    assert known_order(order[::-1]) == order
    assert known_order(sorted(order)) == order


@pytest.mark.parametrize(
    "words",
    [["u", "v"], ["red", "green"], ["T1", "N1"], ["low", "severe"], ["stage I", "grade II"]],
)
def test_words_without_an_order(words):
    assert known_order(words) is None
