"""Motifs and copies of stored genotypes, segment by segment."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.sampling import (
    SegmentMotifs,
    fit_segment_motifs,
    group_copies,
    stored_group_copies,
)
from selica.sampling.motifs import fit_motifs
from selica.sampling.segment_motifs import copies_by_block
from selica.tables.genotypes import Genotypes
from selica.tables.genotypes.codes import pack, unpack
from tests.sampling.test_genotypes import founders

LAWS = (founders(40, 5, 0), founders(30, 5, 1))
KNOWN = SegmentMotifs(LAWS, estimated=False)
SEGMENTS = np.repeat([0, 1], [40, 30])


def cohort(n, seed):
    return np.concatenate([law.simulate(n, random_state=seed + k) for k, law in enumerate(LAWS)], 1)


def test_a_segment_is_fitted_as_if_it_were_alone():
    X = cohort(80, 2)
    genotypes = Genotypes.of(X)
    both = fit_segment_motifs(genotypes, SEGMENTS, n_motifs=3, n_steps=3, random_state=7)
    seed = np.random.SeedSequence(7, spawn_key=(1,))
    alone = fit_motifs(np.ascontiguousarray(X[:, 40:]), 3, 3, random_state=seed).law
    np.testing.assert_array_equal(both.laws[1].frequencies, alone.frequencies)
    np.testing.assert_array_equal(both.segments, SEGMENTS)


def test_markers_that_vary_in_people_who_were_left_out_are_possible():
    X = cohort(300, 3)
    X[:, 4] = 0
    X[1, 4] = 2
    genotypes = Genotypes.of(X)
    motifs = fit_segment_motifs(genotypes, SEGMENTS, n_motifs=3, n_steps=2, most_people=100)
    codes = stored_group_copies(genotypes, motifs, SEGMENTS, random_state=0)
    assert codes.shape == (1, 70, 75)


def test_copies_are_those_of_each_segment_with_the_gaps_of_the_calls():
    X = cohort(51, 4)
    X[5, 10:20] = -1
    genotypes = Genotypes.of(X).some_markers(np.arange(70))
    partitions = [np.arange(70) // 5, np.arange(70) // 10]
    codes = stored_group_copies(genotypes, KNOWN, partitions, random_state=5, copy=2)
    drawn = unpack(codes[1], 51).T
    np.testing.assert_array_equal(drawn == -1, X == -1)
    seed = np.random.SeedSequence(5, spawn_key=(int.from_bytes(b"copy", "big"), 2, 1))
    labels = [one[40:] for one in partitions]
    expected = group_copies(LAWS[1], X[:, 40:], labels, random_state=seed)
    np.testing.assert_array_equal(drawn[:, 40:], expected[1])


def test_the_check_tells_good_copies_from_independent_ones():
    X = cohort(600, 6)
    genotypes, groups = Genotypes.of(X), np.arange(70) // 5
    good = stored_group_copies(genotypes, KNOWN, groups, random_state=7)[0]
    found = copies_by_block(genotypes, _stored(good, genotypes), groups, SEGMENTS, 8)
    assert found.departure == 1.0
    bad = pack(np.random.default_rng(9).permuted(X, axis=0).T)
    found = copies_by_block(genotypes, _stored(bad, genotypes), groups, SEGMENTS, 8)
    assert found.departure > 1.5


def test_the_check_tells_bad_copies_in_many_segments():
    """With 12 blocks the smallest p-value of one, times 12, would be above the level of 0.01."""
    X = np.concatenate([cohort(200, seed) for seed in range(10, 16)], axis=1)
    p = X.shape[1]
    segments, groups = np.arange(p) // 35, np.arange(p) // 5
    genotypes = Genotypes.of(X)
    bad = pack(np.random.default_rng(9).permuted(X, axis=0).T)
    found = copies_by_block(genotypes, _stored(bad, genotypes), groups, segments, 8)
    assert found.differs
    assert found.departure > 1.5


def _stored(codes, like):
    return Genotypes(codes, like.n_rows, np.arange(len(codes)), like.people, like.markers, None)


def test_motifs_of_other_markers_are_refused():
    genotypes = Genotypes.of(cohort(20, 10)[:, :60])
    with pytest.raises(ArgumentError, match="motifs are of 70 markers, and there are 60"):
        stored_group_copies(genotypes, KNOWN, np.zeros(60))
    with pytest.raises(ArgumentError, match="partitions must have a label"):
        stored_group_copies(Genotypes.of(cohort(20, 10)), KNOWN, np.zeros(60))
