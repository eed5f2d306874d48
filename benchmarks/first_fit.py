"""What a new user waits for: `python -m benchmarks.first_fit [--wheel FILE] [--dask]`.

Builds a wheel (or takes one), installs it into an empty environment in a temporary folder, and
times fresh processes of it from outside, interpreter included: the import, and the first
`StabilitySelection().fit` on 200 x 100. The very first process is shown by itself: it finds no
cache of any kind. With `--dask`, also the time from the start of a cluster's worker to its first
finished chunk of an ensemble.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 5
FIT_TARGET, WORKER_TARGET = 1.5, 3.0  # seconds
WHEEL_TARGET = 5.0  # MB (1e6 bytes)
SCRIPTS = {
    "python alone": "pass",
    "import numpy": "import numpy",
    "import selica": "import selica",
    "import selica.solvers": "import selica.solvers",
    "first StabilitySelection().fit": """
import numpy as np
from selica import StabilitySelection
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 100))
y = X[:, :5].sum(axis=1) + rng.standard_normal(200)
StabilitySelection().fit(X, y)
""",
}
WORKER = """
import time
import numpy as np
from distributed import Client, LocalCluster

def chunk(seed):
    from selica.sampling import resample_weights, simulate
    from selica.solvers import lasso_path_batch
    data = simulate(200, 100, 10, snr=5.0, random_state=seed)
    weights = resample_weights(200, 32, "bootstrap", rate=1.0, random_state=1)
    lams = np.abs(data.X.T @ data.y).max() * np.geomspace(1.0, 0.05, 30)
    return lasso_path_batch(data.X, data.y, lams, weights, keep="counts").counts.sum()

if __name__ == "__main__":
    options = {"processes": True, "host": "127.0.0.1", "dashboard_address": None}
    options |= {"n_workers": 0, "threads_per_worker": 1}
    with LocalCluster(**options) as cluster, Client(cluster) as c:
        start = time.perf_counter()
        cluster.scale(1)
        c.wait_for_workers(1)
        there = time.perf_counter()
        c.submit(chunk, 0).result()
        done = time.perf_counter()
        c.submit(chunk, 1).result()
        again = time.perf_counter()
    print(there - start, done - start, again - done)
"""


def build(folder: Path) -> tuple[Path, float]:
    """The wheel of this repository and the seconds it took."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*command, str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("selica-*.whl")
    return wheel, time.perf_counter() - start


def install(wheel: Path, home: Path, extra: str) -> Path:
    """The Python of a new environment that holds the wheel."""
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), f"{wheel}{extra}"], check=True)
    return python


def run(python: Path, script: Path | str, folder: Path) -> tuple[float, str]:
    """Seconds of a fresh process, and what it printed; nothing of this repository is in reach."""
    code = [str(script)] if isinstance(script, Path) else ["-c", script]
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    start = time.perf_counter()
    done = subprocess.run(
        [str(python), *code], cwd=folder, env=clean, check=True, stdout=subprocess.PIPE, text=True
    )
    return time.perf_counter() - start, done.stdout


def report(python: Path, folder: Path) -> None:
    print(f"\nSeconds of a fresh process: the very first one, and the median of {REPEATS} more.\n")
    print("| what | first | median | asked for |")
    print("|---|---|---|---|")
    # The fit goes first: its first process is the first of the installation.
    for name in reversed(SCRIPTS):
        times = [run(python, SCRIPTS[name], folder)[0] for _ in range(1 + REPEATS)]
        target = f"{FIT_TARGET}" if "fit" in name else ""
        print(f"| {name} | {times[0]:.2f} | {np.median(times[1:]):.2f} | {target} |", flush=True)


def report_worker(python: Path, folder: Path) -> None:
    script = folder / "worker.py"
    script.write_text(WORKER)
    found = [list(map(float, run(python, script, folder)[1].split())) for _ in range(REPEATS)]
    there, done, again = np.median(found, axis=0)
    print(f"\nA worker of Dask, seconds, median of {REPEATS} clusters.\n")
    print("| worker there | first chunk finished | asked for | a second chunk |")
    print("|---|---|---|---|")
    print(f"| {there:.2f} | {done:.2f} | {WORKER_TARGET} | {again:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheel", type=Path, help="build none, take this one")
    parser.add_argument("--dask", action="store_true", help="with the extra `cluster`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.wheel:
            wheel = options.wheel.resolve()
        else:
            wheel, seconds = build(folder)
            print(f"The wheel was built in {seconds:.1f} s.")
        size = wheel.stat().st_size / 1e6
        print(f"{wheel.name}: {size:.2f} MB (asked for: at most {WHEEL_TARGET:g})")
        python = install(wheel, folder / "environment", "[cluster]" if options.dask else "")
        report(python, folder)
        if options.dask:
            report_worker(python, folder)


if __name__ == "__main__":
    main()
