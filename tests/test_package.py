"""The package as a whole: light to import, typed, with a version."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import selica


def loaded_by(statement):
    """Top-level modules in a fresh interpreter after `statement`."""
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_the_package_alone_is_light():
    loaded = loaded_by("import selica")
    assert "selica" in loaded
    heavy = {"matplotlib", "pandas", "sklearn", "scipy", "numpy", "typer", "rich"}
    assert loaded & heavy == set()


def test_the_theory_draws_nothing_and_reads_no_table():
    loaded = loaded_by("from selica import theory")
    assert "numpy" in loaded
    heavy = {"matplotlib", "pandas", "sklearn", "typer", "rich"}
    assert loaded & heavy == set()


def test_the_command_line_loads_no_plots_before_they_are_asked_for():
    loaded = loaded_by("import selica.cli")
    assert loaded & {"matplotlib", "pandas", "sklearn"} == set()


def test_the_command_line_needs_only_what_the_package_requires():
    # click is not among the dependencies, and typer 0.29 no longer brings it along
    loaded_by("sys.modules['click'] = None; import selica.cli")


def test_version():
    assert isinstance(selica.__version__, str)
    assert selica.__version__ == version("selica")


def test_unknown_names():
    with pytest.raises(AttributeError, match="'selica' has no attribute 'astrology'"):
        selica.astrology  # noqa: B018
    with pytest.raises(ImportError):
        from selica import astrology  # noqa: F401


def test_names_promised_are_there():
    assert set(selica.__all__) == set(dir(selica))
    for name in selica.__all__:
        assert getattr(selica, name) is not None
    assert selica.theory.__name__ == "selica.theory"


def test_names_the_theory_promises_are_there():
    for name in selica.theory.__all__:
        assert getattr(selica.theory, name).__doc__


def test_the_package_is_typed():
    assert (Path(selica.__file__).parent / "py.typed").is_file()
