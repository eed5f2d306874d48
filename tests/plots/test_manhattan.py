"""Markers along the genome: places, fewer points, small files, names that fit."""

from __future__ import annotations

import numpy as np
import pytest

from selica.errors import ArgumentError
from selica.plots import plot_manhattan
from selica.plots.canvas import image
from selica.plots.genome import Genome, fewer_points, spread_labels
from selica.tables.genotypes import Markers


def markers(p=200, chromosomes=("1", "2", "10", "X")):
    each = p // len(chromosomes)
    names = [f"rs{j}" for j in range(p)]
    place = np.tile(np.arange(each) * 1000 + 5, len(chromosomes))
    return Markers.of(np.repeat(chromosomes, each), names, place, "A" * p, "C" * p)


def test_places_rise_along_the_karyogram():
    some = markers(chromosomes=("X", "10", "2", "1"))
    genome = Genome.of(some.chromosome, some.position)
    assert genome.chromosomes == ["1", "2", "10", "X"]
    for k, name in enumerate(genome.chromosomes):
        own = genome.place[some.chromosome == name]
        assert (np.diff(own) > 0).all()
        assert own.min() == pytest.approx(genome.start[k])
        assert own.max() == pytest.approx(genome.end[k])
    assert (genome.start[1:] > genome.end[:-1]).all()
    assert genome.end[-1] == pytest.approx(1.0)


def test_fewer_points_keep_what_a_reader_sees():
    rng = np.random.default_rng(0)
    place = np.sort(rng.random(200_000))
    value = rng.exponential(0.01, 200_000)
    value[rng.choice(200_000, 300, replace=False)] = rng.uniform(0.3, 1.0, 300)
    selected = value > 0.8
    small, larger = fewer_points(place, value, selected)
    assert small.size + larger.size < 4000
    assert set(np.flatnonzero(selected)) <= set(larger.tolist())
    column = (place * 900).astype(int)
    for one in (0, 450, 899):  # in every column the largest value of all is there
        inside = np.flatnonzero(column == one)
        assert inside[np.argmax(value[inside])] in {*small.tolist(), *larger.tolist()}
    assert fewer_points(place, np.zeros(200_000), np.zeros(200_000, dtype=bool))[0].size == 0


def test_many_markers_are_a_small_file():
    rng = np.random.default_rng(1)
    some = markers(200_000, tuple(str(c) for c in range(1, 21)))
    value = rng.exponential(0.05, 200_000)  # hard: little is small
    figure = plot_manhattan(some, value, value > 0.55, threshold=0.55)
    assert len(image(figure, ".svg")) < 500_000


def test_selected_markers_have_names_and_a_threshold_a_line():
    some = markers()
    value = np.linspace(0.0, 0.5, 200)
    value[[10, 120]] = 1.0
    figure = plot_manhattan(some, value, value == 1.0, threshold=0.7, measure="share", title="Here")
    top, strip = figure.axes
    texts = [text.get_text() for text in top.texts]
    assert {"rs10", "rs120", "0.7"} <= set(texts)
    assert top.get_ylabel() == "share"
    assert [tick.get_text() for tick in strip.get_xticklabels()] == ["1", "2", "10", "X"]


def test_bands_for_several_resolutions():
    bands = {"100 kb": [("1", 5, 20_000), ("X", 0, 9e9)], "10 kb": []}
    figure = plot_manhattan(markers(), np.zeros(200), bands=bands)
    assert [tick.get_text() for tick in figure.axes[1].get_yticklabels()] == ["100 kb", "10 kb"]
    with pytest.raises(ArgumentError, match="no marker on chromosome '7'"):
        plot_manhattan(markers(), np.zeros(200), bands={"a": [("7", 1, 2)]})


def test_one_chromosome_has_megabases():
    figure = plot_manhattan(markers(50, ("7",)), np.ones(50))
    assert figure.axes[-1].get_xlabel() == "position on chromosome 7 (Mb)"


def test_labels_do_not_overlap():
    assert spread_labels([0.5, 0.505, 0.9, 0.52], 0.01) == [0, 2, 3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": np.zeros(3)}, "value must have shape"),
        ({"selected": np.zeros(3, dtype=bool)}, "selected must be True or False"),
        ({"threshold": "a"}, "threshold must be one number"),
        ({"measure": 3}, "measure must be text"),
        ({"bands": [1]}, "bands must map"),
    ],
)
def test_bad_arguments_are_refused(change, words):
    given = {"value": np.zeros(200)} | change
    with pytest.raises(ArgumentError, match=words):
        plot_manhattan(markers(), **given)
