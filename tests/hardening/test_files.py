"""Disks that are full, folders that are closed, bytes that are no table: one sentence each."""

from __future__ import annotations

import os
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from selica._core.files import write_whole
from tests.hardening.commands import STUDY, assert_one_sentence, csv_text, process, selica

FULL = "No space left on device"
LARGE = "File too large"
CLOSED = ("Read-only file system", "Permission denied")


def select_into(folder, table):
    return ["select", table, "--target", "y", "--method", "lasso", "--out", folder / "report"]


def reproduce_into(folder, _):
    return ["reproduce", "phase-boundary", "--scale", "smoke", "--out", folder]


def plot_into(folder, _):
    return ["predict", *STUDY, "--plot", folder / "power.pdf"]


COMMANDS = [(select_into, 2), (reproduce_into, 1), (plot_into, 2)]
"""Each with its exit code; that of the second may come hours after its folder was tried."""


@contextmanager
def small_files_only():
    """The system refuses files beyond 1500 bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(csv_text(), encoding="utf-8")
    return path


@pytest.fixture
def mounted(tmp_path):
    """Mounts a small file system; only root may."""
    folders = []

    def mount(options):
        folder = tmp_path / f"mount{len(folders)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "none", folder]
        if subprocess.run(command, capture_output=True).returncode:
            return None
        folders.append(folder)
        return folder

    yield mount
    for folder in folders:
        subprocess.run(["umount", folder], check=True)


def files_in(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_a_full_disk(command, code, table, mounted):
    folder = mounted("size=4k,nr_inodes=8")
    if folder is None:
        pytest.skip("only root may mount a file system")
    (folder / "ballast").write_bytes(b"0" * 4096)
    assert_one_sentence(selica(*command(folder, table)), FULL, code=code)
    assert files_in(folder) == ["ballast"]


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_a_limit_on_the_size_of_files(command, code, table, tmp_path):
    """What can be tested without root: the same error from the system, in the middle of a file."""
    folder = tmp_path / "out"
    folder.mkdir()
    with small_files_only():
        limited = selica(*command(folder, table))
    assert_one_sentence(limited, LARGE, code=code)
    assert files_in(folder) == []


@pytest.mark.parametrize("command", [command for command, _ in COMMANDS])
def test_a_folder_that_may_not_be_written(command, table, tmp_path, mounted):
    folder = mounted("ro") if os.geteuid() == 0 else tmp_path / "closed"
    if folder is None:
        pytest.skip("root writes everywhere, and may not mount a file system here")
    if os.geteuid():
        folder.mkdir(mode=0o555)
    done = selica(*command(folder, table))
    assert_one_sentence(done)
    assert any(reason in done.stderr for reason in CLOSED)
    assert files_in(folder) == []


def test_a_report_that_cannot_be_written_leaves_the_one_before(table, tmp_path):
    folder = tmp_path / "out"
    assert selica(*select_into(folder, table)).returncode == 0
    before = {name: (folder / name).read_bytes() for name in files_in(folder)}
    assert len(before) == 3
    with small_files_only():
        limited = selica(*select_into(folder, table), "--lam", "0.2")
    assert_one_sentence(limited, LARGE)
    assert {name: (folder / name).read_bytes() for name in files_in(folder)} == before


def test_files_are_whole_or_not_there(tmp_path):
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text("old")

    def fail(part):
        part.write_text("half")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_whole({a: lambda part: part.write_text("new"), b: fail})
    assert a.read_text() == "old"
    assert files_in(tmp_path) == ["a.txt"]
    with pytest.raises(OSError, match="No such file") as caught:
        write_whole({tmp_path / "none" / "c.txt": lambda part: part.write_text("new")})
    assert caught.value.filename == str(tmp_path / "none" / "c.txt")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("args", [("--version",), ("predict", *STUDY)])
def test_an_output_that_is_full(args):
    with open("/dev/full", "w") as full:
        assert_one_sentence(process(*args, stdout=full), FULL, code=1)


def test_a_reader_who_has_enough():
    """`selica --version | head -0`: no traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as pipe:
        done = process("--version", stdout=pipe)
    assert (done.returncode, done.stderr) == (1, "")


ENCODINGS = {
    "latin-1": (csv_text().encode("latin-1"), "Windows-1252"),
    "utf-16 with a mark": (csv_text().encode("utf-16"), "UTF-16"),
    "utf-16 without": (csv_text("a,b,c,d,e,y").encode("utf-16-le"), "UTF-16"),
    "utf-32": (csv_text().encode("utf-32"), "UTF-32"),
}
NOT_TEXT = {
    "binary": bytes(range(256)) * 40,
    "zeros": bytes(4096),
    "a zero": csv_text().encode().replace(b"b,", b"b\0,", 1),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_files_that_are_not_utf_8(encoding, tmp_path):
    content, name = ENCODINGS[encoding]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    done = selica("select", path, "--target", "y", "--method", "lasso")
    assert done.returncode == 0, done
    assert f"The file is not in UTF-8; it was read as {name}" in done.stdout


@pytest.mark.parametrize("content", NOT_TEXT)
def test_files_that_are_not_text(content, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(NOT_TEXT[content])
    done = selica("select", path, "--target", "y", "--method", "lasso")
    assert_one_sentence(done, "table.csv: line ", "UTF-8")


def test_a_mark_of_utf_8_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(csv_text().encode("utf-8-sig"))
    done = selica("select", path, "--target", "y", "--method", "lasso", "--drop", "größe")
    assert done.returncode == 0
