"""Arrays that tasks have in common stand beside them once; arrays of a file stay in the file."""

from __future__ import annotations

import gc
import os
import pickle

import numpy as np
import pytest

from selica._core.clusters import arrived
from selica._core.errors import RefusedError
from selica._core.file_arrays import in_file
from selica._core.shared_arrays import Places, SharedArrays, sharing, unpacked

LARGE = np.arange(10_000.0).reshape(100, 100)


class _Store:
    """Workers that keep what they are given."""

    def __init__(self):
        self.kept = []

    def put(self, arrays):
        self.kept += arrays
        return [(self, len(self.kept) - len(arrays) + i) for i in range(len(arrays))]

    def get(self, handles):
        return [store.kept[place] for store, place in handles]


def test_common_arrays_are_put_once_and_own_ones_travel():
    own = [np.full((100, 100), float(b)) for b in range(3)]
    tasks = [(b, {"X": LARGE, "again": LARGE[:]}, own[b]) for b in range(3)]
    store = _Store()
    shared = SharedArrays(tasks, store.put, Places())
    for task in tasks:
        content, handles = shared.packed(task)
        assert len(handles) == 1
        assert own[0].nbytes < len(content) < 1.1 * own[0].nbytes
        b, both, mine = unpacked(content, store.get(handles))
        np.testing.assert_array_equal(both["X"], LARGE)
        np.testing.assert_array_equal(both["again"], LARGE)
        np.testing.assert_array_equal(mine, own[b])
    assert len(store.kept) == 1


def test_a_part_of_an_array_is_another_array():
    store = _Store()
    tasks = [(LARGE, LARGE[:80], LARGE.T)] * 2
    content, handles = SharedArrays(tasks, store.put, Places()).packed(tasks[0])
    for found, expected in zip(unpacked(content, store.get(handles)), tasks[0], strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(store.kept) == 3


def test_arrays_stay_from_call_to_call_and_go_with_the_memory():
    store, temporary = _Store(), np.ones((100, 100))
    with sharing() as places:
        with sharing() as inner:
            assert inner is places
        for _ in range(2):
            SharedArrays([LARGE, LARGE], store.put, places).packed(LARGE)
        assert len(store.kept) == 1
        SharedArrays([temporary] * 2, lambda arrays: [0 for _ in arrays], places).packed(temporary)
        assert len(places.handles) == 2
        del temporary
        gc.collect()
        assert len(places.handles) == 1
    assert not places.handles


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "X.npy", np.asfortranarray(LARGE))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


@pytest.mark.parametrize(
    "view",
    [
        lambda X: X,
        lambda X: X.T,
        lambda X: np.asarray(X)[3:50:2, 10:],
        lambda X: X[:, 7],
        lambda X: X.T.view(np.uint8),
    ],
)
def test_an_array_of_a_file_is_opened_again(mapped, view):
    array = view(mapped)
    again = pickle.loads(pickle.dumps(in_file(array))).open()
    np.testing.assert_array_equal(again, array)
    assert again.strides == array.strides
    assert not again.flags.writeable


def test_a_file_is_named_and_not_sent(mapped):
    store = _Store()
    content, handles = SharedArrays([mapped, mapped], store.put, Places()).packed((mapped, "task"))
    assert len(content) < 1000
    assert handles == store.kept == []
    np.testing.assert_array_equal(unpacked(content, [])[0], LARGE)


def test_what_may_differ_from_its_file_is_sent(tmp_path, mapped):
    assert in_file(LARGE) is None
    assert in_file(mapped[::-1]) is None  # from its end: no offset to begin at
    for mode in ("r+", "c"):
        assert in_file(np.load(tmp_path / "X.npy", mmap_mode=mode)) is None
    os.remove(tmp_path / "X.npy")
    assert in_file(mapped) is None


def test_another_file_is_refused_in_a_sentence(tmp_path, mapped):
    where = in_file(mapped)
    file = tmp_path / "X.npy"
    content = file.read_bytes()
    os.utime(file, ns=(0, 12345))
    with pytest.raises(RefusedError, match=r"^The table at .*X\.npy is not the file that the run"):
        where.open()
    os.utime(file, ns=(0, where.changed))
    where.open()
    file.write_bytes(content + b"0")
    os.utime(file, ns=(0, where.changed))
    with pytest.raises(RefusedError, match="size or time of change differ"):
        where.open()
    file.unlink()
    with pytest.raises(RefusedError, match=r"^A worker cannot open the table at .*same place"):
        where.open()


def test_an_array_at_an_odd_address_is_aligned():
    buffer = np.zeros(LARGE.nbytes + 1, dtype=np.uint8)
    odd = np.ndarray(LARGE.shape, float, buffer=buffer, offset=1, order="F")
    odd[:] = LARGE
    found = arrived(odd)
    assert not odd.flags.aligned
    assert found.flags.aligned
    assert found.flags.f_contiguous
    np.testing.assert_array_equal(found, LARGE)
