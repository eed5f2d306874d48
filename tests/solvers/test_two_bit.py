"""Genotypes of two bits: everything is that of the dense table of the same entries."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from selica._core.compiled import core, load
from selica._core.errors import ArgumentError
from selica._core.losses import loss_of
from selica.solvers import int8_design, pack_two_bit, side_by_side, two_bit_design
from selica.solvers.designs import TwoBitTable, as_table
from selica.solvers.ensemble import make_problem, solve_part
from tests.solvers.test_designs import COLUMNS, LOSSES, ROWS, fit

SIZES = (1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 131, 515, 1030)
"""Rows on both sides of a byte, of a word, of a register and of a block of sums."""


def _genotypes(rows=ROWS, columns=COLUMNS, missing=0.1, seed=5):
    """Copies of alleles of all frequencies, some calls missing; columns of one value too."""
    rng = np.random.default_rng(seed)
    values = rng.binomial(2, rng.uniform(0.03, 0.97, columns), (rows, columns)).astype(np.int8)
    values[rng.random(values.shape) < missing] = -1
    if columns > 8:
        values[:, 3] = 2
        values[:, 4] = values[:, 5]
        values[:, 6] = -1
    return values


def _entries(values, unit=1.0, origin=0.0, fill=None):
    """The definition: copies, or the mean of the calls of a column; then unit and origin."""
    copies = values.astype(float)
    for j in range(copies.shape[1]):
        calls = copies[values[:, j] >= 0, j]
        mean = calls.mean() if calls.size else 0.0
        copies[values[:, j] < 0, j] = mean if fill is None else fill[j]
    return unit * (copies - origin)


def _scales(columns=COLUMNS, seed=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, columns), rng.uniform(-3, 3, columns), rng.uniform(0, 2, columns)


def _file(folder, codes):
    """The codes as they lie in a .bed file."""
    path = folder / "some.bed"
    path.write_bytes(bytes([0x6C, 0x1B, 0x01]) + codes.tobytes())
    return np.memmap(path, dtype=np.uint8, mode="r", offset=3, shape=codes.shape)


@pytest.mark.parametrize("rows", SIZES)
def test_codes_are_those_of_a_bed_file(rows):
    values = _genotypes(rows, 7)
    codes = pack_two_bit(values)
    assert codes.shape == (7, -(-rows // 4))
    meaning = {2: 0, -1: 1, 1: 2, 0: 3}  # by the description of the format
    for j in range(7):
        for i in range(rows):
            assert codes[j, i // 4] >> 2 * (i % 4) & 3 == meaning[int(values[i, j])]
    table = two_bit_design(codes, rows)
    assert table.shape == (rows, 7)
    assert table.nbytes == codes.nbytes
    np.testing.assert_allclose(table.dense(), _entries(values), rtol=1e-15)
    counts = np.stack([(values == copies).sum(axis=0) for copies in (2, -1, 1, 0)], axis=1)
    assert np.array_equal(table.counts(), counts)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_fit_is_that_of_the_dense_table(loss, tmp_path):
    values = _genotypes()
    unit, origin, fill = _scales()
    kinds = {
        "plain": (two_bit_design(pack_two_bit(values), ROWS), _entries(values)),
        "mapped, with a unit": (
            two_bit_design(
                _file(tmp_path, pack_two_bit(values)), ROWS, unit=unit, origin=origin, fill=fill
            ),
            _entries(values, unit, origin, fill),
        ),
        "side by side": (
            side_by_side([
                two_bit_design(pack_two_bit(values), ROWS, columns=[8, 2, 9]),
                _entries(values)[:, 3:],
            ]),
            _entries(values)[:, [8, 2, 9, *range(3, COLUMNS)]],
        ),
    }  # fmt: skip
    for table, dense in kinds.values():
        for settings in ({}, {"standardize": True, "unpenalised": [7], "lam2": 0.3}):
            wanted, got = fit(loss, dense, **settings), fit(loss, table, **settings)
            assert wanted.converged
            np.testing.assert_allclose(got.coef, wanted.coef, rtol=0, atol=1e-9)
            np.testing.assert_allclose(got.intercept, wanted.intercept, rtol=0, atol=1e-8)
            np.testing.assert_allclose(got.lam_max, wanted.lam_max, rtol=1e-12)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_moments_are_those_of_the_entries(rows, missing):
    values = _genotypes(rows, 12, missing)
    unit, origin, fill = _scales(12)
    table = two_bit_design(pack_two_bit(values), rows, unit=unit, origin=origin, fill=fill)
    dense = _entries(values, unit, origin, fill)
    rng = np.random.default_rng(rows)
    for weight in (
        None, np.ones(rows), rng.integers(1, 4, rows), rng.integers(1, 250, rows),
        rng.random(rows) + 0.1, 1000.0 * rng.integers(1, 5, rows),
    ):  # fmt: skip
        mean, variance = table.moments(weight)
        share = np.ones(rows) / rows if weight is None else weight / np.sum(weight)
        wanted = share @ dense
        np.testing.assert_allclose(mean, wanted, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(variance, share @ (dense - wanted) ** 2, rtol=1e-12, atol=1e-14)


def test_moments_of_every_kind_of_table():
    dense = np.random.default_rng(3).standard_normal((9, 4)) + 1e6
    weight = np.arange(9.0)
    from scipy.sparse import csc_array

    for kind in (dense, np.asfortranarray(dense), csc_array(dense), side_by_side([dense, dense])):
        mean, variance = as_table("X", kind).moments(weight)
        wanted = np.average(dense, axis=0, weights=weight)
        square = np.average((dense - wanted) ** 2, axis=0, weights=weight)
        np.testing.assert_allclose(mean[:4], wanted, rtol=1e-15)
        np.testing.assert_allclose(variance[:4], square, rtol=1e-8)
    few = int8_design(np.arange(6, dtype=np.int8).reshape(3, 2), unit=[2.0, 1.0])
    assert few.moments()[0].tolist() == [4.0, 3.0]
    assert few.columns_of([1, -2]).tolist() == [[1.0, 0.0], [3.0, 4.0], [5.0, 8.0]]


def test_rows_and_columns_are_chosen():
    values = _genotypes(41, 12)
    unit, origin, fill = _scales(12)
    codes = pack_two_bit(values)
    table = two_bit_design(codes, 41, unit=unit, origin=origin, fill=fill)
    dense = _entries(values, unit, origin, fill)
    few = table.some_columns([7, 0, -1])
    assert isinstance(few, TwoBitTable)
    assert np.shares_memory(few.codes, codes)
    np.testing.assert_allclose(few.dense(), dense[:, [7, 0, 11]])
    np.testing.assert_allclose(few.some_columns([False, True, True]).dense(), dense[:, [0, 11]])
    np.testing.assert_allclose(few.column(1), dense[:, 0])
    np.testing.assert_allclose(few.columns_of([2, 1]), dense[:, [11, 0]])
    rows = np.array([40, 3, 3, 17, 0, 8, 39])
    some = few.some_rows(rows)
    assert some.shape == (7, 3)
    np.testing.assert_allclose(some.dense(), dense[np.ix_(rows, [7, 0, 11])])
    flags = np.arange(41) % 2 == 0
    np.testing.assert_allclose(table.some_rows(flags).dense(), dense[flags])
    every_other = two_bit_design(codes[::2], 41, unit=unit[::2], origin=origin[::2], fill=fill[::2])
    np.testing.assert_allclose(every_other.dense(), dense[:, ::2])


def test_what_lies_beyond_the_last_row_does_not_matter():
    values = _genotypes(ROWS + 1)[:-1]
    codes = pack_two_bit(values[:58])
    dirty = codes.copy()
    dirty[:, -1] |= 0xF0  # two rows that are not there
    clean, other = two_bit_design(codes, 58), two_bit_design(dirty, 58)
    assert np.array_equal(clean.counts(), other.counts())
    assert np.array_equal(clean.dense(), other.dense())
    for a, b in zip(clean.moments(), other.moments(), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_reads_the_same_codes(name, monkeypatch):
    try:
        module = load(name)
    except ImportError:
        pytest.skip(f"{name} was not built")
    if name not in ("baseline", "avx2", "avx512")[: ("baseline", "avx2", "avx512").index(
        load("baseline").best_set()
    ) + 1]:  # fmt: skip
        pytest.skip(f"this processor has no {name}")
    monkeypatch.setattr("selica.solvers.two_bit.core", lambda: module)
    monkeypatch.setattr("selica.solvers.ensemble.core", lambda: module)
    values = _genotypes()
    got = fit("squared", two_bit_design(pack_two_bit(values), ROWS), standardize=True)
    monkeypatch.undo()
    wanted = fit("squared", _entries(values), standardize=True)
    np.testing.assert_allclose(got.coef, wanted.coef, rtol=0, atol=1e-9)


def test_genotypes_of_a_file_are_a_table():
    values = _genotypes()
    from_file = SimpleNamespace(
        codes=pack_two_bit(values), n_rows=ROWS, columns=np.array([2, 5, 7, 9, 11])
    )
    table = as_table("X", from_file)
    assert isinstance(table, TwoBitTable)
    np.testing.assert_allclose(table.dense(), _entries(values)[:, [2, 5, 7, 9, 11]])


CODES = np.zeros((3, 2), dtype=np.uint8)
REFUSED = {
    "codes that are no array": (lambda: two_bit_design([[0, 1]], 5), "codes must"),
    "codes of another type": (lambda: two_bit_design(CODES.astype(np.int8), 5), "codes must"),
    "codes of one dimension": (lambda: two_bit_design(CODES[0], 5), "codes must"),
    "too many rows": (lambda: two_bit_design(CODES, 9), "codes must"),
    "too few rows": (lambda: two_bit_design(CODES, 4), "codes must"),
    "no rows": (lambda: two_bit_design(CODES, 0), "n_rows must"),
    "rows that are no number": (lambda: two_bit_design(CODES, 5.5), "n_rows must"),
    "no markers": (lambda: two_bit_design(CODES[:0], 5), "codes must"),
    "a line that is not there": (lambda: two_bit_design(CODES, 5, columns=[3]), "columns must"),
    "a line before the first": (lambda: two_bit_design(CODES, 5, columns=[-4]), "columns must"),
    "lines that are halves": (lambda: two_bit_design(CODES, 5, columns=[0.5]), "columns must"),
    "no lines": (lambda: two_bit_design(CODES, 5, columns=[]), "columns must"),
    "too few units": (lambda: two_bit_design(CODES, 5, unit=[1.0]), "unit must"),
    "an origin without end": (
        lambda: two_bit_design(CODES, 5, origin=[0.0, np.inf, 0.0]), "origin must"
    ),
    "a fill that is not a number": (
        lambda: two_bit_design(CODES, 5, fill=[0.0, np.nan, 0.0]), "fill must"
    ),
    "three copies": (lambda: pack_two_bit(np.full((2, 2), 3, dtype=np.int8)), "values must"),
    "genotypes as doubles": (lambda: pack_two_bit(np.ones((2, 2))), "values must"),
    "no genotypes": (lambda: pack_two_bit(np.ones((0, 2), dtype=np.int8)), "values must"),
    "a row that is not there": (lambda: two_bit_design(CODES, 5).some_rows([5]), "which must"),
    "no rows chosen": (lambda: two_bit_design(CODES, 5).some_rows([]), "which must"),
    "no columns chosen": (lambda: two_bit_design(CODES, 5).some_columns([]), "which must"),
    "weights of other rows": (lambda: two_bit_design(CODES, 5).moments(np.ones(4)), "weight must"),
    "weights below zero": (lambda: two_bit_design(CODES, 5).moments(-np.ones(5)), "weight must"),
    "weights of zero": (lambda: two_bit_design(CODES, 5).moments(np.zeros(5)), "weight must"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_codes_that_cannot_be_read_are_one_sentence(what):
    call, opening = REFUSED[what]
    with pytest.raises(ArgumentError) as refused:
        call()
    message = str(refused.value)
    assert message.startswith(opening)
    assert "\n" not in message


def _large(members):
    """A table that no cache is meant to hold, as an ensemble of members that are all the same."""
    rows, columns = 2000, 1200
    table = two_bit_design(pack_two_bit(_genotypes(rows, columns, 0.0)), rows)
    y = table.column(10) - table.column(11) + np.random.default_rng(1).standard_normal(rows)
    lams = np.array([300.0, 150.0, 70.0])
    return make_problem(
        table, y, lams, np.ones((members, rows)), loss_of("squared"), fit_intercept=True
    )


def test_passes_over_the_design_are_counted():
    # nothing is active: one pass to prepare, one for the moments, one for the gradients at zero,
    # and the columns with the largest of these, exactly
    above = _large(1)._replace(lams=np.array([1e6]), lam2=np.zeros(1))
    passes = solve_part(above).passes
    assert 3.0 < passes < 3.05
    # members that ask for the same at the same time are served by the same products
    four, eight = (solve_part(_large(members), chunk=members) for members in (4, 8))
    assert eight.kept.n_active.max() > 2
    extra = eight.passes - four.passes  # single columns of four more members
    assert 0.0 < extra < 0.5
    # two chunks read twice what one does; the table is prepared once
    halves = solve_part(_large(8), chunk=4)
    assert halves.passes - 1.0 == pytest.approx(2.0 * (four.passes - 1.0), rel=1e-12)
    # the count does not depend on the threads
    assert solve_part(_large(8), chunk=4, threads=2).passes == halves.passes
    np.testing.assert_allclose(halves.kept.coef, eight.kept.coef, rtol=0, atol=1e-7)


def test_members_of_a_large_table_fit_into_memory():
    # 100 half-samples with at most 550 active columns: at least 16 are served by one product, and
    # the members of two chunks stay below 3 GB at 500,000 markers and 1 GB at 100,000
    for markers, active, most in ((500_000, 550, 3e9), (100_000, 245, 1e9)):
        codes = np.lib.stride_tricks.as_strided(np.zeros(1250, np.uint8), (markers, 1250), (0, 1))
        unit = np.ones(markers)
        table = TwoBitTable(codes, 5000, np.arange(markers), unit, 0 * unit, 0 * unit)
        sizes = (5000, markers, 0, False, 100, 2500, active)
        together = core().members_per_chunk(*sizes, table.most_bytes)
        columns = 1.25 * active + 48  # of a working set: with Gram matrix and factor
        each = 8 * columns * (2500 + 2 * columns) + 40 * markers
        assert together >= 16
        assert 2 * together * each < most
