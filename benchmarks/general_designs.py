"""The picture of docs/general-designs.md: `python -m benchmarks.general_designs`."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from tests.oracles import designs

from selica import theory
from selica.plots.style import RC, quantity_style
from selica.solvers import lasso_path_batch

ALPHA, RHO, DELTA, PI = 0.5, 0.2, 0.01, 0.5
SIZE, SETS, MEMBERS = 600, 16, 50
KINDS = {
    "orthogonal rows": (theory.Spectrum.row_orthogonal(ALPHA), 1.0),
    "independent entries": (theory.Spectrum.marchenko_pastur(ALPHA), None),
    "geometric, condition 10": (theory.Spectrum.geometric(ALPHA, 10.0), 10.0),
    "geometric, condition 100": (theory.Spectrum.geometric(ALPHA, 100.0), 100.0),
}


def fit(X, y, weights, lam):
    return lasso_path_batch(X, y, [lam], weights, tol=1e-7).coef[:, 0, :]


def draw(rng, condition):
    rows = round(ALPHA * SIZE)
    if condition is None:
        return rng.standard_normal((rows, SIZE)) / np.sqrt(SIZE)
    return designs.design(rng, rows, SIZE, designs.geometric(rows, SIZE, condition))


def main() -> None:
    model = theory.Model(ALPHA, RHO, DELTA)
    lams, few = np.geomspace(0.08, 0.8, 60), np.geomspace(0.12, 0.6, 4)
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(10, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for rank, (label, (spectrum, condition)) in enumerate(KINDS.items()):
            style = quantity_style(label, rank)
            rates = theory.solve_stability(model, lams, spectrum=spectrum).rates(
                PI, n_members=MEMBERS
            )
            for axes, name in ((left, "tpr"), (right, "fdr")):
                axes.plot(
                    lams, getattr(rates, name), color=style.colour, ls=style.dash, label=label
                )
            for place, lam in enumerate(few):
                runs = []
                for seed in range(SETS):
                    rng = np.random.default_rng([3, rank, place, seed])
                    setting = {"rho": RHO, "Delta": DELTA, "lam": lam, "mu_B": 1.0}
                    votes = round(PI * MEMBERS)
                    X = draw(rng, condition)
                    runs.append(
                        designs.one_data_set(
                            rng, X, members=MEMBERS, votes=votes, lasso=fit, **setting
                        )
                    )
                for axes, name in ((left, "tpr"), (right, "fdp")):
                    value = [run[name] for run in runs]
                    se = np.std(value, ddof=1) / np.sqrt(SETS)
                    axes.errorbar(lam, np.mean(value), se, color=style.colour, marker=style.marker)
        for axes, name in ((left, "true positive rate"), (right, "false discovery rate")):
            axes.set(xlabel="penalty", ylabel=name)
            axes.set_title(
                r"50 members, $\alpha = 0.5$, $\rho = 0.2$, $\Delta = 0.01$, $\Pi_{th} = 0.5$"
            )
        left.legend(fontsize=8, frameon=False)
        figure.savefig("docs/images/general-designs.png", dpi=130)


if __name__ == "__main__":
    main()
