"""The fast tests on every Python from 3.11 to 3.14 that can be found: `make test-matrix`.

    python -m tests.matrix              all of them
    python -m tests.matrix 3.12 3.13    these

Each version has an environment of its own, `.venv-3.12` and so on, which is kept for the next time.
Versions are looked for on the path and where pyenv keeps them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
ROOT = Path(__file__).parents[1]


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


def environment(version: str, python: str) -> Path:
    """The interpreter of an environment with the package and its tests installed."""
    folder = ROOT / f".venv-{version}"
    inside = folder / "bin" / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
    install = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    package = ["-e", f"{ROOT}[plots,test]"]
    # versions that were tested together may not be there for another Python
    pinned = [*install, "-c", str(ROOT / "constraints.txt"), *package]
    if subprocess.run(pinned, check=False, capture_output=True).returncode != 0:
        subprocess.run([*install, *package], check=True)
    return inside


def tested(version: str) -> str:
    """What the tests say on this version, in a line."""
    python = interpreter(version)
    if python is None:
        return "not found"
    try:
        inside = environment(version, python)
    except subprocess.CalledProcessError:
        return "the package or its tests cannot be installed"
    begun = time.monotonic()
    run = [str(inside), "-m", "pytest", "-q", "-n", "2", "-m", "not slow", "-p", "no:cacheprovider"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    last = (done.stdout.strip().splitlines() or ["no output"])[-1].strip("= ")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    minutes = (time.monotonic() - begun) / 60.0
    verdict = "passed" if done.returncode == 0 else "FAILED"
    return "\n    ".join([f"{verdict} in {minutes:.1f} min: {last}", *failed])


def main() -> None:
    """Print a line for each version; the exit code says whether one failed."""
    results = {}
    for version in sys.argv[1:] or VERSIONS:
        results[version] = tested(version)
        print(f"Python {version}: {results[version]}", flush=True)
    sys.exit(any("FAILED" in said or "cannot" in said for said in results.values()))


if __name__ == "__main__":
    main()
