"""Make the peers' environments: `python -m benchmarks.peers.environments`.

They go to the folder $SELICA_BENCH, `.bench` in the repository when it is not set. scikit-learn,
celer and skglm share one; adelie needs an older NumPy and has its own, and so has scikit-survival,
which only `benchmarks.peers.agreement` asks for; glmnet is R's, from the system's packages
(installed with apt-get where that is possible). What cannot be installed is skipped with a
sentence. Nothing outside that folder is touched, R aside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Environment -> what it holds. Names and versions only.
REQUIREMENTS: dict[str, list[str]] = {
    "python": [
        *("scikit-learn==1.9.1", "celer==0.7.4", "skglm==0.5"),
        *("numpy==2.4.6", "scipy==1.17.1", "numba==0.68.1"),
    ],
    "adelie": ["adelie==1.1.52", "numpy==1.26.4", "scipy==1.17.1"],
    "survival": ["scikit-survival==0.28.0", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"],
}
HOME = {
    "sklearn": "python",
    "celer": "python",
    "skglm": "python",
    "adelie": "adelie",
    "glmnet": "python",  # NumPy writes the files that R reads
    "sksurv": "survival",
}
R_PACKAGE = "r-cran-glmnet"


def folder() -> Path:
    """Where the environments live."""
    return Path(os.environ.get("SELICA_BENCH", ROOT / ".bench")).resolve()


def python_of(peer: str) -> Path:
    """The interpreter that can run this peer."""
    return folder() / HOME[peer] / "bin" / "python"


def _works(*command: str | Path) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def missing(peer: str) -> str | None:
    """Why this peer cannot run, or None."""
    if not python_of(peer).exists():
        return f"{peer} is skipped: no environment {HOME[peer]!r}"
    if peer == "glmnet":
        if not shutil.which("Rscript") or not _works("Rscript", "-e", "library(glmnet)"):
            return f"glmnet is skipped: R with {R_PACKAGE} is not installed"
    elif not _works(python_of(peer), "-c", f"import {peer}"):
        return f"{peer} is skipped: its environment cannot import it"
    return None


def _make(name: str) -> None:
    home = folder() / name
    if not (home / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    pip = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    if subprocess.run([*pip, *REQUIREMENTS[name]], check=False).returncode:
        print(f"pip could not install {' '.join(REQUIREMENTS[name])}", file=sys.stderr)


def _make_r() -> None:
    if missing("glmnet") is None or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", R_PACKAGE]):
        subprocess.run(["apt-get", "-qq", *arguments], env=quiet, check=False)


def main() -> None:
    """Make what is missing; say what could not be made."""
    for name in REQUIREMENTS:
        if any(home == name and missing(peer) for peer, home in HOME.items()):
            _make(name)
    _make_r()
    for peer in HOME:
        print(missing(peer) or f"{peer} is ready")


if __name__ == "__main__":
    main()
