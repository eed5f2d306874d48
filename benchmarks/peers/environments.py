"""Make the peers' environments: `python -m benchmarks.peers.environments [PEER ...]`.

They go to the folder $SELICA_BENCH, `.bench` in the repository when it is not set. scikit-learn,
celer and skglm share one; adelie needs an older NumPy and has its own, and so has scikit-survival,
which only `benchmarks.peers.agreement` asks for. Packages that `benchmarks.peers.selecting`
compares have one each; those in R are from the system's packages (installed with apt-get where that
is possible). What cannot be installed is skipped with a sentence. Nothing outside that folder is
touched, R aside.
"""

from __future__ import annotations

import argparse
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
    "knockpy": ["knockpy==1.3.5", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"],
    "trexselector": ["trexselector==0.6.18", "tlars==0.8.0", "numpy==2.4.6", "scipy==1.17.1"],
    "ipss": [
        *("ipss==1.1.13", "xgboost==3.2.0", "scikit-learn==1.9.1"),
        *("numpy==2.4.6", "scipy==1.17.1"),
    ],
    "hidimstat": [
        *("hidimstat==0.4.0", "packaging==26.3", "scikit-learn==1.9.1"),
        *("numpy==2.4.6", "scipy==1.17.1"),
    ],
    "boruta": ["boruta==0.4.3", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"],
}
# Peer -> its environment.
HOME = {
    "sklearn": "python",
    "celer": "python",
    "skglm": "python",
    "adelie": "adelie",
    "glmnet": "python",  # NumPy writes the files that R reads
    "sksurv": "survival",
    **{name: name for name in ("knockpy", "trexselector", "ipss", "hidimstat", "boruta")},
}
# R's packages -> Debian's, with its version in Debian 12.
R_PACKAGES = {"glmnet": ("r-cran-glmnet", "4.1-6")}


def folder() -> Path:
    """Where the environments live."""
    return Path(os.environ.get("SELICA_BENCH", ROOT / ".bench")).resolve()


def python_of(peer: str) -> Path:
    """The interpreter that can run this peer."""
    return folder() / HOME[peer] / "bin" / "python"


def version(peer: str) -> str:
    """The version of a peer's package that its environment is made with."""
    if peer in R_PACKAGES:
        return R_PACKAGES[peer][1]
    return dict(pin.split("==") for pin in REQUIREMENTS[HOME[peer]])[peer]


def _works(*command: str | Path) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def missing_in_r(package: str) -> str | None:
    """Why this package of R cannot run, or None."""
    if shutil.which("Rscript") and _works("Rscript", "-e", f"library({package})"):
        return None
    return f"{package} is skipped: R with {R_PACKAGES[package][0]} is not installed"


def missing(peer: str) -> str | None:
    """Why this peer cannot run, or None."""
    if peer in HOME and not python_of(peer).exists():
        return f"{peer} is skipped: no environment {HOME[peer]!r}"
    if peer in R_PACKAGES:
        return missing_in_r(peer)
    if not _works(python_of(peer), "-c", f"import {peer}"):
        return f"{peer} is skipped: its environment cannot import it"
    return None


def _make(name: str) -> None:
    home = folder() / name
    if not (home / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    pip = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    if subprocess.run([*pip, *REQUIREMENTS[name]], check=False).returncode:
        print(f"pip could not install {' '.join(REQUIREMENTS[name])}", file=sys.stderr)


def _make_r(packages: list[str]) -> None:
    wanted = [R_PACKAGES[package][0] for package in packages if missing_in_r(package)]
    if not wanted or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *wanted]):
        subprocess.run(["apt-get", "-qq", *arguments], env=quiet, check=False)


def main() -> None:
    """Make what is missing; say what could not be made."""
    known = list(dict.fromkeys([*HOME, *R_PACKAGES]))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"of {', '.join(known)}; or all")
    peers = parser.parse_args().peers or known
    if unknown := set(peers) - set(known):
        parser.error(f"no peer {', '.join(sorted(unknown))}")
    for name in REQUIREMENTS:
        if any(HOME.get(peer) == name and missing(peer) for peer in peers):
            _make(name)
    _make_r([peer for peer in peers if peer in R_PACKAGES])
    for peer in peers:
        print(missing(peer) or f"{peer} is ready")


if __name__ == "__main__":
    main()
