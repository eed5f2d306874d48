"""Parts of a killed run: taken by the same run, by no other, and the answer is the same."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from selica import DerandomizedKnockoffs, StabilitySelection
from selica._core.errors import ArgumentError
from selica._core.keeping import content_digest
from selica._core.progress import reporting, stoppable
from selica.progress import keeping
from selica.sampling import simulate

ROOT = Path(__file__).parents[2]
DATA = simulate(100, 50, 5, snr=5.0, random_state=0)


def _selector(**others):
    return StabilitySelection(**({"n_resamples": 100, "random_state": 0} | others))


class _Killed(Exception):
    """Where a run is to end."""


def _killed_run(selector, folder, share=0.5, data=DATA):
    """Leave the parts of a run that did not come to its end."""

    def end(what, done, total):
        if done >= share * total:
            raise _Killed

    with pytest.raises(_Killed), keeping(folder), reporting(end):
        selector.fit(data.X, data.y)


def test_kill_9(tmp_path):
    """A process that the system ends between two blocks."""
    code = (
        "import os, signal, sys\n"
        "from selica.progress import keeping, reporting\n"
        "from tests.selectors.test_keeping import DATA, _selector\n"
        "def kill(what, done, total):\n"
        "    if done >= 60: os.kill(os.getpid(), signal.SIGKILL)\n"
        "with keeping(sys.argv[1]), reporting(kill):\n"
        "    _selector().fit(DATA.X, DATA.y)\n"
    )
    folder = tmp_path / "parts"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    heard = []
    with keeping(folder, tell=heard.append) as kept:
        found = _selector().fit(DATA.X, DATA.y)
    # the third block may have been written when the kill came, or not
    assert heard == kept.said
    assert heard in (["40 of 100 resamples were there."], ["60 of 100 resamples were there."])
    alone = _selector().fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(found.selection_probabilities_, alone.selection_probabilities_)
    assert found.guarantee_ == alone.guarantee_
    assert found.notes_ == alone.notes_
    assert not folder.exists()


@pytest.mark.parametrize(
    ("selector", "result"),
    [
        (StabilitySelection(lam=[0.1, 0.2], n_resamples=60, random_state=0), "probabilities"),
        (StabilitySelection(n_resamples="auto", random_state=0), "probabilities"),
        (DerandomizedKnockoffs(n_copies=24, statistic="coefficient", random_state=0), "copies"),
    ],
)
def test_what_is_taken_is_what_would_have_been_computed(tmp_path, selector, result):
    name = "statistics_" if result == "copies" else "selection_probabilities_"
    expected = getattr(selector.fit(DATA.X, DATA.y), name).copy()
    _killed_run(selector, tmp_path)
    with keeping(tmp_path, stay=True) as kept:
        again = getattr(selector.fit(DATA.X, DATA.y), name)
    assert len(kept.said) == 1
    np.testing.assert_array_equal(again, expected)
    with keeping(tmp_path) as kept:  # everything is there now
        again = getattr(selector.fit(DATA.X, DATA.y), name)
    assert kept.said
    np.testing.assert_array_equal(again, expected)


def test_a_seed_that_nobody_gave_is_kept(tmp_path):
    selector = _selector(random_state=None)
    _killed_run(selector, tmp_path)
    other = tmp_path.with_name("copy")
    shutil.copytree(tmp_path, other)
    answers = []
    for folder in (tmp_path, other):
        with keeping(folder) as kept:
            answers.append(selector.fit(DATA.X, DATA.y).selection_probabilities_)
        assert kept.said == ["40 of 100 resamples were there."]
    np.testing.assert_array_equal(*answers)
    with keeping(tmp_path):
        fresh = selector.fit(DATA.X, DATA.y).selection_probabilities_
    assert not np.array_equal(fresh, answers[0])


@pytest.mark.parametrize(
    ("others", "data", "why"),
    [
        ({"q": 7}, DATA, "other settings"),
        ({"random_state": 1}, DATA, "another seed"),
        ({}, replace(DATA, y=DATA.y + 1e-9 * DATA.y**2), "other data"),
    ],
)
def test_parts_of_another_run_are_not_taken(tmp_path, others, data, why):
    _killed_run(_selector(), tmp_path)
    expected = _selector(**others).fit(data.X, data.y).selection_probabilities_
    with keeping(tmp_path) as kept:
        found = _selector(**others).fit(data.X, data.y).selection_probabilities_
    assert len(kept.said) == 1
    assert f"of a run with {why}: they are not used." in kept.said[0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_part_is_computed_again(tmp_path, damage):
    _killed_run(_selector(), tmp_path)
    first = min(tmp_path.glob("resamples-*-0-20.npz"))
    content = bytearray(first.read_bytes())
    with ZipFile(first) as parts:  # in the numbers: the name of a part in the archive is no content
        largest = max(parts.infolist(), key=lambda part: part.compress_size)
    content[largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2] ^= 255
    first.write_bytes({"cut": content[:-30], "flipped": content, "empty": b""}[damage])
    with keeping(tmp_path) as kept:
        found = _selector().fit(DATA.X, DATA.y).selection_probabilities_
    assert kept.said == ["20 of 100 resamples were there."]
    expected = _selector().fit(DATA.X, DATA.y).selection_probabilities_
    np.testing.assert_array_equal(found, expected)


def test_a_folder_is_left_as_it_was(tmp_path):
    (tmp_path / "mine.npz").write_text("mine")
    with keeping(tmp_path):
        _selector(n_resamples=40).fit(DATA.X, DATA.y)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]
    with (
        pytest.raises(ArgumentError, match="folder must be a folder"),
        keeping(tmp_path / "mine.npz"),
    ):
        pass


def test_ctrl_c_leaves_the_parts(tmp_path):
    def interrupt(what, done, total):
        if done > 60:
            raise KeyboardInterrupt

    with stoppable(), keeping(tmp_path), reporting(interrupt):
        stopped = _selector().fit(DATA.X, DATA.y)
    assert stopped.n_resamples_ == 60
    with keeping(tmp_path) as kept:
        _selector().fit(DATA.X, DATA.y)
    assert kept.said == ["60 of 100 resamples were there."]


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path):
    (tmp_path / "file").write_text("")
    with keeping(tmp_path / "file" / "parts") as kept:
        _selector(n_resamples=60).fit(DATA.X, DATA.y)
    assert len(kept.said) == 1
    assert kept.said[0].startswith("Finished parts are not kept: ")


def test_the_digest_of_a_file_reads_its_ends_alone(tmp_path):
    table = np.zeros((2000, 200))
    np.save(tmp_path / "X.npy", table)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    before = content_digest((mapped, 1))
    assert before == content_digest((np.load(tmp_path / "X.npy", mmap_mode="r"), 1))
    assert before != content_digest((mapped, 2))
    assert before != content_digest((mapped[1:], 1))
    table[1000] = 1.0
    time.sleep(0.01)
    np.save(tmp_path / "X.npy", table)
    assert before != content_digest((np.load(tmp_path / "X.npy", mmap_mode="r"), 1))
    assert content_digest(table) == content_digest(np.asfortranarray(table).copy(order="C"))


@pytest.mark.slow
def test_the_command_goes_on_after_kill_9(tmp_path):
    data = simulate(300, 1500, 10, snr=5.0, random_state=0)
    table = np.column_stack([data.X, data.y])
    names = ",".join([f"x{j}" for j in range(1500)] + ["y"])
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", header=names, comments="")
    options = ["--target", "y", "--method", "stability", "--pfer", "1", "--n-resamples", "2000"]
    command = [sys.executable, "-m", "selica", "select", str(tmp_path / "t.csv"), *options, "--out"]

    def run(out):
        return subprocess.run([*command, str(out)], capture_output=True, text=True, check=True)

    run(tmp_path / "whole")
    out = tmp_path / "killed"
    process = subprocess.Popen([*command, str(out)], stdout=subprocess.DEVNULL)
    while len(list(out.glob("unfinished/*.npz"))) < 2:
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "selection.csv").exists()
    again = run(out)
    assert "of 2,000 resamples were there." in again.stderr
    assert sorted(path.name for path in out.iterdir()) == sorted(
        path.name for path in (tmp_path / "whole").iterdir()
    )
    name = "selection.csv"
    assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
