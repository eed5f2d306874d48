"""The tab *Theory*: the replicated system of stability selection, for a lecture."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from selica.app import charts, markup
from selica.app.fields import ChoiceField, Field, NumberField
from selica.app.lecture import Lecture, LectureSetting
from selica.app.panel import Panel

_FIELDS: tuple[Field, ...] = (
    NumberField("lam", "Penalty λ", 0.001, 3.0, 0.1, log=True),
    NumberField("mu", "Resampling rate μ_B", 0.1, 10.0, 2.0, log=True),
    NumberField("pi", "Threshold Π_th", 0.01, 0.999, 0.9, 0.01),
    NumberField("alpha", "Samples per variable α", 0.05, 10.0, 0.8, log=True),  # noqa: RUF001
    NumberField("rho", "Share of signals ρ", 0.005, 0.9, 0.2, log=True),  # noqa: RUF001
    NumberField("delta", "Noise variance Δ", 0.0001, 10.0, 0.01, log=True),
    ChoiceField(
        "law", "Effects of the signals",
        {"gaussian": "Gaussian", "point": "All equal", "laplace": "Laplace (a few large)"},
        "gaussian",
    ),
)  # fmt: skip
_PANEL = Panel("Theory", _FIELDS)
_solved = lru_cache(maxsize=512)(Lecture)  # going back costs nothing
_EQUATIONS = r"""
**One variable.** Each fit sees a variable as $h = g + \sqrt{\hat v}\,\eta$, where the data fix
$g = \hat m w^0 + \sqrt{\hat\chi}\,\xi$ and $\eta$ is new in every resample. Its estimate is
$\hat w = S(h;\lambda)/\hat Q$, with the soft threshold $S$, so that it is selected with probability
$\Pi(g) = P(|g+\sqrt{\hat v}\,\eta|>\lambda)$. A rule $\Pi>\Pi_{th}$ is $|g|>g^*$.

**The replicated system.** Replicas that share the data are fits to different resamples. With
$E = q-2m+\rho+\Delta$, the error of the averaged fit, and
$f_k = E_c[(c/(1+\chi c))^k]$, $c \sim \mathrm{Poisson}(\mu_B)$,

$$\hat Q=\hat m=\alpha f_1,\quad \hat\chi=\alpha f_1^2E,$$

$$\hat v=\alpha[(f_2-f_1^2)E+f_2v],$$

$$q=E_g[(E_\eta\hat w)^2],\quad m=E[w^0\hat w],$$

$$\chi=P(|h|>\lambda)/\hat Q,\quad v=E_g[\mathrm{Var}_\eta\hat w].$$

**Rates.** $\mathrm{TPR}=P(|\hat mw^0+\sqrt{\hat\chi}\,\xi|>g^*)$,
$\mathrm{FPR}=2H(g^*/\sqrt{\hat\chi})$,
$\mathrm{FDR}=\frac{(1-\rho)\mathrm{FPR}}{(1-\rho)\mathrm{FPR}+\rho\,\mathrm{TPR}}$.
"""
"""What does not change while a slider moves."""


@st.fragment
def show() -> None:
    """Show sliders on the left, the fields' picture with its rates on the right."""
    left, right = markup.sides()
    values = _PANEL.values()
    with left:
        _PANEL.show(_FIELDS, values)
    lam, mu, pi, alpha, rho, delta = (
        float(values[key]) for key in ("lam", "mu", "pi", "alpha", "rho", "delta")
    )
    lecture = _solved(LectureSetting(alpha, rho, delta, lam, mu, pi, str(values["law"])))
    with right:
        markup.ignored(_PANEL.ignored())
        _numbers(lecture)
        charts.draw(lecture.fields())
        first, second = st.columns([1, 1], gap="medium")
        with first:
            charts.draw(lecture.thresholds())
            markup.table([*lecture.parameters()], title="Order parameters and their conjugates")
        with second:
            st.markdown(_EQUATIONS)
        markup.notes(
            "Stability selection on independent columns with infinitely many resamples and "
            "variables, after T. Takahashi, Replica Analysis for Ensemble Techniques in Variable "
            "Selection. The areas are shares of all variables: FDR is the orange area over the sum "
            "of both; where irrelevant variables are many, their peak is cut off. A threshold at "
            "the smallest probability Π(0) selects everything."
        )


def _numbers(lecture: Lecture) -> None:
    """Show what the threshold finds."""
    s, rates = lecture.solution, lecture.rates
    markup.cards(
        {
            "TPR: signals that are selected": f"{rates.tpr:.3f}",
            "FDR: false among the selected": f"{rates.fdr:.3f}",
            "FPR: irrelevant ones selected": f"{rates.fpr:.3g}",
            "E, error of the average": f"{s.ensemble_error:.4g}",
            "E + v, error of one fit": f"{s.prediction_error:.4g}",
        }
    )
    if not s.converged:
        markup.problem("The equations have no solution here that could be found.")
