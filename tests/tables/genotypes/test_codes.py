"""Codes of two bits: against the definition, one call after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from selica.errors import ArgumentError
from selica.tables.genotypes import codes
from selica.tables.genotypes.codes import count_codes, pack, some_people, unpack

CODE = {2: 0, -1: 1, 1: 2, 0: 3}

tables = st.tuples(st.integers(1, 5), st.integers(1, 40)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(-1, 2))
)


def by_definition(calls):
    out = np.zeros((calls.shape[0], -(-calls.shape[1] // 4)), dtype=np.uint8)
    for i, line in enumerate(calls):
        for k, call in enumerate(line):
            out[i, k // 4] |= CODE[int(call)] << (2 * (k % 4))
    return out


@given(tables)
def test_codes_are_those_of_the_definition(calls):
    packed = pack(calls)
    np.testing.assert_array_equal(packed, by_definition(calls))
    np.testing.assert_array_equal(unpack(packed, calls.shape[1]), calls)


@given(tables, st.randoms(use_true_random=False))
def test_some_people_and_counts(calls, random):
    m, n = calls.shape
    which = np.array([random.randrange(n) for _ in range(random.randrange(1, n + 1))])
    some = some_people(pack(calls), n, which)
    np.testing.assert_array_equal(some, by_definition(calls[:, which]))
    mask = np.zeros(n, dtype=bool)
    mask[which] = True
    lines = np.array([random.randrange(m) for _ in range(4)])
    counts = count_codes(pack(calls), n, lines, mask)
    for line, found in zip(lines, counts, strict=True):
        here = calls[line, mask]
        assert found.tolist() == [int((here == call).sum()) for call in (2, -1, 1, 0)]


def test_many_blocks_are_one(monkeypatch):
    calls = np.random.default_rng(0).integers(-1, 3, (57, 31)).astype(np.int8)
    packed = pack(calls)
    lines = np.r_[3:20, 40, 22, 50:57]
    expected = count_codes(packed, 31, lines)
    monkeypatch.setattr(codes, "BLOCK", 40)  # five lines
    np.testing.assert_array_equal(count_codes(packed, 31, lines), expected)


def test_other_calls_are_refused():
    with pytest.raises(ArgumentError, match="0, 1, 2, or -1"):
        pack(np.array([[0, 3]]))
    with pytest.raises(ArgumentError, match="whole numbers"):
        pack(np.array([[0.5, 1.0]]))
