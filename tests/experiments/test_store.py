from __future__ import annotations

import pytest

from selica._core.errors import ArgumentError
from selica.experiments import Store


def test_values_come_back_with_every_digit(tmp_path):
    store = Store(tmp_path / "deep" / "parts.jsonl")
    assert len(store) == 0
    assert not store.path.exists()
    store.add("a", [1 / 3, {"q": [0.1]}])
    again = Store(store.path)
    assert "a" in again
    assert "b" not in again
    assert again["a"] == [1 / 3, {"q": [0.1]}] == store["a"]


def test_a_line_cut_short_is_forgotten_and_the_next_one_is_whole(tmp_path):
    path = tmp_path / "parts.jsonl"
    store = Store(path)
    store.add("a", 1)
    store.add("b", 2)
    path.write_bytes(path.read_bytes()[:-4])
    cut = Store(path)
    assert "a" in cut
    assert "b" not in cut
    cut.add("c", 3)
    again = Store(path)
    assert len(again) == 2
    assert again["c"] == 3


def test_noise_in_the_file_costs_no_other_part(tmp_path):
    path = tmp_path / "parts.jsonl"
    Store(path).add("a", 1)
    first = path.read_bytes()
    path.write_bytes(first + b"\x00\xff not json\n[1, 2]\n" + first.replace(b'"a"', b'"b"'))
    store = Store(path)
    assert len(store) == 2
    assert store["b"] == 1
    assert store.found == 1


def test_a_path_is_asked_for():
    with pytest.raises(ArgumentError, match="path"):
        Store(5)
