from __future__ import annotations

import csv

import numpy as np
import pytest

from selica.sampling import simulate
from tests.cli.plans import R2, K, N, P


@pytest.fixture(scope="session")
def study_folder(tmp_path_factory):
    """Tables like the study, with a seed whose data message passing can be believed on."""
    folder = tmp_path_factory.mktemp("tables")
    data = simulate(N, P, K, snr=R2 / (1.0 - R2), random_state=1)
    names = [f"x{j}" for j in range(P)]
    for file, target in (("table", data.y), ("classes", np.where(data.y > 0, "case", "control"))):
        with (folder / f"{file}.csv").open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["patient", *names, "y"])
            for i, row in enumerate(data.X):
                writer.writerow([f"id{i}", *row, target[i]])
    with (folder / "plain.csv").open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*names, "y"])
        writer.writerows([*row, y] for row, y in zip(data.X, data.y, strict=True))
    return folder
