"""The package on every Python, with the oldest and the newest dependencies: `make test-matrix`.

    python -m tests.matrix                    every Python from 3.11 to 3.14 that can be found
    python -m tests.matrix 3.12 3.13          these
    python -m tests.matrix 3.12 --oldest      with the oldest dependencies alone, or --newest
    python -m tests.matrix 3.12 --full        the fast tests after the smoke suite

The archive of the sources is built once. Each Python builds a wheel from it, which is installed
into an empty environment, first without any extra, then with all of them, and `tests.smoke` runs
there from outside of the checkout. The oldest dependencies are the lowest versions that
pyproject.toml allows and that have a wheel for the Python. With `--full`, the unpacked archive then
takes the place of the wheel, and its fast tests are run. Everything is in build/matrix, and what
was found in its `result.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
from pathlib import Path
from typing import Any

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
DEPENDENCIES = {"oldest": "lowest-direct", "newest": "highest"}
"""Which versions are installed, and what uv calls it."""
EXTRAS = "plots,data,excel,genotypes,arrays,app,cluster"
"""Extras of the package that a user may install."""
SHOWN = ("numpy", "scipy", "scikit-learn", "pyarrow", "pandas", "matplotlib", "streamlit", "dask")
"""Libraries whose versions are printed."""
ROOT = Path(__file__).parents[1]
HOME = ROOT / "build" / "matrix"
TOOLS = HOME / "tools"
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Failed(Exception):
    """What went wrong, in a line."""


def run(*words: Any, cwd: Path = HOME, may_fail: bool = False) -> str:
    """What a program prints, away from the checkout and its variables."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [*map(str, words)], cwd=cwd, env=kept | SETTINGS, capture_output=True, text=True
    )
    if done.returncode and not may_fail:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        last = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        raise Failed(f"{Path(str(words[0])).name} {words[1]}: {last[-1][:200]}")
    return done.stdout


def uv(*words: Any) -> str:
    """What uv does, which makes environments and knows which versions are the oldest."""
    return run(TOOLS / "bin" / "uv", *words)


def interpreter(version: str) -> str | None:
    """An interpreter of this version that starts."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}")]
    found += [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for path in filter(None, found):
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout.startswith(f"Python {version}."):
            return path
    return None


def archive() -> Path:
    """The archive of the sources, built anew, with the tool that the rest needs."""
    shutil.rmtree(HOME / "sources", ignore_errors=True)
    HOME.mkdir(parents=True, exist_ok=True)
    if not (TOOLS / "bin" / "uv").exists():
        run(sys.executable, "-m", "venv", TOOLS)
        run(TOOLS / "bin" / "python", "-m", "pip", "install", "--quiet", "uv")
    uv("build", "--quiet", "--sdist", "--out-dir", HOME / "sources", ROOT)
    return next((HOME / "sources").glob("selica-*.tar.gz"))


def wheel(sources: Path, version: str, python: str) -> Path:
    """A wheel for this Python, built from the archive where nothing but the build tools is."""
    out = HOME / "wheels" / version
    shutil.rmtree(out, ignore_errors=True)
    uv("build", "--quiet", "--wheel", "--python", python, "--out-dir", out, sources)
    return next(out.glob("selica-*.whl"))


def environment(built: Path, version: str, python: str, kind: str) -> Path:
    """The interpreter of an environment with the wheel alone, beside a list of versions."""
    folder = HOME / f"{version}-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    uv("venv", "--quiet", "--python", python, folder / "venv")
    inside = folder / "venv" / "bin" / "python"
    # the lowest versions of what the package names itself: those are direct requirements of a file
    (folder / "asked.in").write_text("\n".join(requirements()))
    choice = ("--resolution", DEPENDENCIES[kind], "--only-binary", ":all:", "--python", inside)
    found = uv("pip", "compile", "--quiet", folder / "asked.in", *choice)
    (folder / "versions.txt").write_text(found)
    uv("pip", "install", "--quiet", "--python", inside, "-c", folder / "versions.txt", built)
    return inside


def requirements() -> list[str]:
    """What the package and its extras require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [project["optional-dependencies"][extra] for extra in EXTRAS.split(",")]
    return sum(extras, project["dependencies"])


def smoke(inside: Path, built: Path) -> dict[str, Any]:
    """What the smoke suite says without extras, then with all of them."""
    folder = inside.parents[2]
    shutil.copy(ROOT / "tests" / "smoke.py", folder / "smoke.py")
    begun = time.monotonic()
    said = [run(inside, "-I", folder / "smoke.py", "core", cwd=folder)]
    with_all = f"selica[{EXTRAS}] @ {built.as_uri()}"
    versions = folder / "versions.txt"
    uv("pip", "install", "--quiet", "--python", inside, "-c", versions, with_all)
    said += [run(inside, "-I", folder / "smoke.py", cwd=folder)]
    parts = [text.strip().splitlines()[-2] for text in said]
    seconds = time.monotonic() - begun
    found = json.loads(said[-1].strip().splitlines()[-1])
    return {"said": f"{parts[0]}; with extras {parts[1]}", "seconds": seconds, "versions": found}


def fast_tests(inside: Path, sources: Path) -> dict[str, Any]:
    """What the fast tests of the unpacked archive say."""
    folder = inside.parents[2]
    with tarfile.open(sources) as packed:
        packed.extractall(folder, filter="data")
    home = folder / sources.name.removesuffix(".tar.gz")
    versions = folder / "versions.txt"
    # scikit-learn 1.6 hands generators to pytest, which version 9 forbids
    tools = ["pytest<9"] if folder.name.endswith("oldest") else []
    install = ("pip", "install", "--quiet", "--python", inside, "-c", versions)
    uv(*install, "-e", f"{home}[plots,test]", *tools)
    begun = time.monotonic()
    asked = ["-q", "-n", "2", "-m", "not slow", "-p", "no:cacheprovider"]
    text = run(inside, "-m", "pytest", *asked, cwd=home, may_fail=True)
    (folder / "tests.txt").write_text(text)
    lines = text.strip().splitlines() or ["no output"]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    print(*failed, sep="\n", file=sys.stderr)
    return {"said": lines[-1].strip("= "), "seconds": time.monotonic() - begun, "failed": failed}


def cell(sources: Path, built: Path, version: str, kind: str, full: bool) -> dict[str, Any]:
    """What one environment says."""
    try:
        inside = environment(built, version, interpreter(version) or "", kind)
        found = smoke(inside, built)
        if full:
            found |= fast_tests(inside, sources)
    except Failed as error:
        return {"said": str(error), "failed": [str(error)]}
    return found


def row(version: str, kind: str, found: dict[str, Any]) -> str:
    """A row of the table that is printed."""
    known = found.get("versions", {})
    verdict = "FAILED: " if found.get("failed") else ""
    cells = [known.get("python", version), kind, *(known.get(name, "-") for name in SHOWN)]
    cells += [f"{verdict}{found['said']}", f"{found.get('seconds', 0.0):.0f}"]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Print a row for each environment; the exit code says whether one failed."""
    words = sys.argv[1:]
    kinds = [kind for kind in DEPENDENCIES if f"--{kind}" in words] or list(DEPENDENCIES)
    versions = [word for word in words if not word.startswith("--")] or list(VERSIONS)
    sources, results = archive(), {}
    heads = ["Python", "dependencies", *SHOWN, "result", "seconds"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for version in versions:
        python = interpreter(version)
        try:
            built = wheel(sources, version, python) if python else None
        except Failed as error:
            built, python = None, str(error)
        for kind in kinds:
            if built is None:
                found = {"said": python or "not found", "failed": [python] if python else []}
            else:
                found = cell(sources, built, version, kind, "--full" in words)
            results[f"{version} {kind}"] = found
            print(row(version, kind, found), flush=True)
    (HOME / "result.json").write_text(json.dumps(results, indent=1))
    return int(any(found.get("failed") for found in results.values()))


if __name__ == "__main__":
    sys.exit(main())
