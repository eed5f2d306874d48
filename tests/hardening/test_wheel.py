"""The wheel: what is in it, and that it works where nothing else is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import selica
from tests.hardening.commands import STUDY, csv_text

ROOT = Path(__file__).parents[2]
PACKAGED = ("src", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy without .gitignore, in which kernels and modules have left their caches."""
    source = tmp_path_factory.mktemp("source")
    for name in PACKAGED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    cache = source / "src" / "selica" / "solvers" / "__pycache__"
    cache.mkdir(exist_ok=True)
    for name in ("paths.cpython-311.pyc", "paths.loop-1.py311.nbi", "paths.loop-1.py311.1.nbc"):
        (cache / name).write_bytes(b"cache")
        (source / "src" / "selica" / name).write_bytes(b"cache")
    code = "import hatchling.build as b, sys; print(b.build_wheel(sys.argv[1]))"
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-c", code, out]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = f"selica-{selica.__version__}.dist-info/"
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    metadata = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert names == modules | {"selica/py.typed"} | {about + name for name in metadata}


def test_the_metadata_of_the_wheel(wheel):
    about = f"selica-{selica.__version__}.dist-info/"
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"{about}METADATA").decode())
        licence = archive.read(f"{about}licenses/LICENSE")
    assert metadata["Version"] == selica.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert licence == (ROOT / "LICENSE").read_bytes()
    required = [r for r in metadata.get_all("Requires-Dist") if "extra ==" not in r]
    names = {re.split(r"[^\w-]", r)[0] for r in required}
    assert "numpy" in names
    assert names & {"pytest", "matplotlib", "pandas", "streamlit", "hatchling"} == set()


@pytest.mark.slow
def test_the_wheel_works_where_nothing_else_is(wheel, tmp_path):
    """In a new environment without any extra, away from the sources."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    bin = tmp_path / "venv" / "bin"
    install = ["-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run([bin / "python", *install], check=True)
    table = tmp_path / "table.csv"
    table.write_text(csv_text(), encoding="utf-8")

    def run(*args):
        command = [bin / "selica", *map(str, args)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    where = [bin / "python", "-c", "import selica; print(selica.__file__)"]
    found = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(tmp_path / "venv"))
    assert run("--version") == f"selica {selica.__version__}\n"
    methods = json.loads(run("predict", *STUDY, "--json"))
    assert methods
    options = ["--target", "y", "--method", "stability-pfer", "--n-resamples", "20"]
    chosen = json.loads(run("select", table, *options, "--out", tmp_path / "report", "--json"))
    assert {"größe", "b"} <= set(chosen["selected"])
    assert len(chosen["files"]) == 3
    listed = subprocess.run([bin / "python", "-m", "pip", "check"], capture_output=True, text=True)
    assert listed.returncode == 0, listed.stdout
