"""The picture and the numbers of docs/ceiling.md: `python -m benchmarks.ceiling`."""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure
from tests.oracles import bayes

from selica import theory
from selica._core.errors import BoundaryWarning
from selica.plots.style import RC, line_style

SIZE, SETS = 2000, 8


def power_panel(axes):
    alphas = np.linspace(0.2, 2.0, 46)
    model = theory.Model(alphas, 0.2, 0.02)
    axes.plot(alphas, theory.power(model, "bayes"), color="#CC79A7", lw=2.5, label="ceiling")
    runs = (("thresholded-lasso", None), ("stability-ideal", 1.0), ("knockoffs-frequency", None))
    for method, rate in runs:
        style = line_style(method, rate)
        tpr = theory.power(model, method, mu_B=rate or 1.0)
        axes.plot(alphas, tpr, color=style.colour, ls=style.dash, label=style.label)
    axes.set(xlabel="samples / variables", ylabel="power at FDR 0.1")
    axes.set_title(r"$\rho = 0.2$, $\Delta = 0.02$, Gaussian effects")
    axes.legend(fontsize=8, frameon=False)


def error_panel(axes):
    rho, Delta = 0.1, 1e-5
    alphas = np.linspace(0.1, 0.3, 201)
    model = theory.Model(alphas, rho, Delta)
    (jump,) = theory.bayes_transitions(rho, Delta)
    print(jump)
    axes.plot(alphas, theory.solve_bayes(model).mse, "#0072B2", label="data determine")
    stuck = theory.solve_bayes(model, "algorithm").mse
    axes.plot(alphas, stuck, "#D55E00", ls=(0, (6, 1.5)), label="message passing reaches")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        lam = theory.optimal_lam(model, "lasso")
    lasso = theory.solve_lasso(model, lam).ensemble_error - Delta
    axes.plot(alphas, lasso, "#000000", ls=(0, (5, 1, 1, 1)), label="lasso, best penalty")
    for truth, colour, marker in ((False, "#D55E00", "o"), (True, "#0072B2", "s")):
        for alpha in (0.12, 0.18, 0.2, 0.25) if not truth else (0.18, 0.2):
            errors = []
            for seed in range(SETS):
                rng = np.random.default_rng(seed)
                X, y, w0 = bayes.draw(rng, SIZE, alpha, rho, Delta, "gaussian")
                start = w0 if truth else None
                w = bayes.bayes_amp(X, y, rho, "gaussian", start, steps=200)[1]
                errors.append(np.mean((w - w0) ** 2))
            se = np.std(errors, ddof=1) / np.sqrt(SETS)
            branch = "information" if truth else "algorithm"
            exact = theory.solve_bayes(theory.Model(alpha, rho, Delta), branch).mse
            print(f"{alpha} {branch}: {np.mean(errors):.4g} ({se:.2g}), theory {exact:.4g}")
            axes.plot(alpha, np.mean(errors), marker, color=colour, mfc="none")
    axes.axvspan(jump.information, jump.algorithm, color="0.9", label="hard phase", zorder=0)
    axes.set(yscale="log", xlabel="samples / variables", ylabel="mean squared error")
    axes.set_title(r"$\rho = 0.1$, $\Delta = 10^{-5}$")
    axes.legend(fontsize=8, frameon=False)


def main() -> None:
    import matplotlib

    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(10, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        power_panel(left)
        error_panel(right)
        figure.savefig("docs/images/ceiling.png", dpi=130)


if __name__ == "__main__":
    main()
