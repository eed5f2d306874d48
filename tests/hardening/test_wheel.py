"""The wheel: what is in it, and that it works where nothing else is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import selica
from tests.hardening.commands import STUDY, csv_text

ROOT = Path(__file__).parents[2]
PACKAGED = ("src", "cpp", "CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE")
MEGABYTE = 2**20
BUILD = """
import sys, scikit_build_core.build as backend
settings = dict(zip(sys.argv[2::2], sys.argv[3::2]))
print(backend.build_wheel(sys.argv[1], settings))
"""


def built(folder, out, *settings):
    """The wheel of a copy without .gitignore, in which older versions have left their files."""
    for name in PACKAGED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    cache = folder / "src" / "selica" / "solvers" / "__pycache__"
    cache.mkdir(exist_ok=True)
    for place in (cache, folder / "src" / "selica"):
        (place / "paths.cpython-311.pyc").write_bytes(b"cache")
    (folder / "src" / "selica" / "_core" / "_compiled_old.so").write_bytes(b"built in place")
    command = [sys.executable, "-c", BUILD, out, *settings]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """With one of the modules, not optimised: it is built in a quarter of the time and not run."""
    source, out = (tmp_path_factory.mktemp(name) for name in ("source", "dist"))
    one = ("cmake.define.SELICA_NATIVE_SETS", "baseline")
    return built(source, out, *one, "cmake.build-type", "Debug")


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = f"selica-{selica.__version__}.dist-info/"
    kinds = (".py", ".js", ".css")  # of the package, and of its page in the browser
    files = [path for path in (ROOT / "src").rglob("*") if path.suffix in kinds]
    modules = {path.relative_to(ROOT / "src").as_posix() for path in files}
    modules.add(f"selica/_core/_compiled_baseline{EXTENSION_SUFFIXES[0]}")
    metadata = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert names == modules | {"selica/py.typed"} | {about + name for name in metadata}


@pytest.mark.slow
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
    assert (
        names & {"pytest", "matplotlib", "pandas", "streamlit", "nanobind", "scikit-build-core"}
        == set()
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The archive of the sources."""
    out = tmp_path_factory.mktemp("sources")
    code = "import sys, scikit_build_core.build as backend; print(backend.build_sdist(sys.argv[1]))"
    command = [sys.executable, "-c", code, out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


def test_the_sources_can_be_built_and_tested_from_their_archive(sources):
    assert sources.name == f"selica-{selica.__version__}.tar.gz"
    with tarfile.open(sources) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder, ending in {"src": "py", "cpp": "[ch]pp", "tests": "py", "benchmarks": "py"}.items():
        found = {p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob(f"*.{ending}")}
        assert found
        assert found <= names
    assert {"CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "PKG-INFO"} <= names
    made = ("__pycache__", "_compiled_", "build/", "docs/_build", ".venv")
    assert [name for name in names if any(part in name for part in made)] == []


@pytest.mark.slow
def test_the_wheel_works_where_nothing_else_is(sources, tmp_path):
    """Built from the archive, in a new environment without any extra, away from the sources."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path]
    subprocess.run([*pip, sources], check=True)  # with nothing but what a build asks for
    (wheel,) = tmp_path.glob("selica-*.whl")
    assert wheel.stat().st_size < 5 * MEGABYTE
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    bin = tmp_path / "venv" / "bin"
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    install = ["-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run([bin / "python", *install], check=True)
    table = tmp_path / "table.csv"
    table.write_text(csv_text(), encoding="utf-8")

    def run(*args):
        command = [bin / "selica", *map(str, args)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=alone)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    where = [bin / "python", "-c", "import selica; print(selica.__file__)"]
    found = subprocess.check_output(where, cwd=tmp_path, text=True, env=alone)
    assert found.startswith(str(tmp_path / "venv"))
    assert run("--version") == f"selica {selica.__version__}\n"
    methods = json.loads(run("predict", *STUDY, "--json"))
    assert methods
    options = ["--target", "y", "--method", "stability-pfer", "--n-resamples", "20"]
    chosen = json.loads(run("select", table, *options, "--out", tmp_path / "report", "--json"))
    assert {"größe", "b"} <= set(chosen["selected"])
    assert len(chosen["files"]) == 3
    check = [bin / "python", "-m", "pip", "check"]
    listed = subprocess.run(check, capture_output=True, text=True, env=alone)
    assert listed.returncode == 0, listed.stdout
