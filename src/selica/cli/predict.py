"""`selica predict`: what every method would do, before there is any data."""

from __future__ import annotations

import math
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from selica import catalogue
from selica._core.errors import ArgumentError, BoundaryWarning
from selica._core.scaling import noise_from_r2, noise_from_snr, penalty_of_data, ratios
from selica._core.validation import number, real
from selica.cli.options import (
    GAUSSIAN,
    R2,
    AsJson,
    EffectLaw,
    Effects,
    Level,
    Plot,
    Snr,
    effect_law,
    given_one,
    number_or_word,
    options_named,
    signals_of,
)
from selica.cli.output import check_figure, each, print_json, print_table, say, write_figure
from selica.cli.plan_answers import CEILING, COUNTS, label, numbers
from selica.cli.plan_options import EffectSize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from selica import theory
    from selica.planning import Prediction


class TheoryResampling(StrEnum):
    """Distributions of the row weights by name."""

    poisson = "poisson"
    bernoulli = "bernoulli"
    exponential = "exponential"


Runs = list[tuple[str, float | None]]
_ORDER = (
    "q",
    "m",
    "chi",
    "v",
    "v_tilde",
    "chi_tilde",
    "Q_hat",
    "m_hat",
    "chi_hat",
    "v_hat",
    "v_tilde_hat",
)


def predict(
    n_samples: Annotated[
        float | None, typer.Option("--n-samples", "-n", help="Number of samples.")
    ] = None,
    n_features: Annotated[
        float | None, typer.Option("--n-features", "-p", help="Number of variables.")
    ] = None,
    n_signals: Annotated[
        float | None, typer.Option("--n-signals", "-k", help="Number of true signals.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Number of samples per variable, instead of -n and -p.")
    ] = None,
    rho: Annotated[float | None, typer.Option(help="Share of true signals, instead of -k.")] = None,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    delta: Annotated[
        float | None,
        typer.Option("--delta", "--Delta", help="Noise variance Delta of the article."),
    ] = None,
    fdr: Level = 0.1,
    lam: Annotated[
        str,
        typer.Option(
            help='Penalty: "prediction" (best for one fit), "power" (best for the selection) '
            "or a number. The lasso without a threshold uses the penalty that gives the FDR."
        ),
    ] = "prediction",
    mu_b: Annotated[
        list[float] | None,
        typer.Option("--mu-b", "--mu-B", help="Resampling rate; repeatable. Default: 1 and 2."),
    ] = None,
    resampling: Annotated[
        TheoryResampling, typer.Option(help="How stability selection draws the rows of a resample.")
    ] = TheoryResampling.poisson,
    effects: Effects = GAUSSIAN,
    details: Annotated[
        bool,
        typer.Option("--details", help="Also print penalties, errors and order parameters."),
    ] = False,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Predict what each method will find, before there is data.

    The first table shows procedures that set their threshold from the data; `selica plan compare`
    compares all of them. The ideal thresholds of the second depend on the truth, which nobody knows
    in practice.

    Example: selica predict -n 400 -p 500 -k 100 --r2 0.95 --fdr 0.1
    """
    from selica import theory  # late: other commands start without SciPy
    from selica._core.wording import assumptions

    law = effect_law(effects)
    if rho is None:
        n_signals = signals_of(n_signals, law)
    size = _size(n_samples, n_features, n_signals, alpha, rho)
    name, noise = given_one(
        "the strength of the signals", r2=r2, snr=snr, effect_size=effect_size, delta=delta
    )
    if name == "effect_size":
        name, noise = "snr", _snr(noise, n_features, size[1])
    model = _model(*size, name, noise, law)
    penalty = number_or_word("lam", lam, ("prediction", "power"))
    rates = mu_b or ([0.5] if resampling is TheoryResampling.bernoulli else [1.0, 2.0])
    real("fdr", fdr, at_least=0.0, at_most=1.0)
    check_figure(plot)
    runs: Runs = [
        (one.name, rate)
        for one in catalogue.at_ideal()
        for rate in (rates if one.equations == "stability" else [None])
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BoundaryWarning)
        points = [
            theory.operating_point(model, method, fdr, penalty, _rate(rate), resampling.value)
            for method, rate in each(runs, "predicting")
        ]
    rows = [
        _row(point, rate, model, n_samples, n_features)
        for point, (_, rate) in zip(points, runs, strict=True)
    ]
    notes = sorted({str(w.message) for w in caught if issubclass(w.category, BoundaryWarning)})
    reached, reason = _reached(model, n_samples, n_features, fdr)
    if as_json:
        parameters = {"alpha": model.alpha, "rho": model.rho, "Delta": model.Delta}
        report = {
            "model": parameters | {"effects": law.name, "snr": model.snr},
            "fdr": fdr,
            "thresholds": "ideal",
            "reached": None if reached is None else [_reached_dict(one) for one in reached],
            "reached_reason": reason,
            "assumptions": assumptions(law.law),
            "lam": penalty,
            "resampling": resampling.value,
            "methods": rows[:-1],
            "ceiling": rows[-1],
            "notes": notes,
        }
        print_json(report)
    else:
        _print_study(model, law, n_samples, n_features)
        _print_reached(reached, reason, fdr)
        _print_ideal(fdr, rows, n_features)
        say(assumptions(law.law))
        if details:
            _print_details(model, rows)
        failed = [_name(row) for row in rows if row["status"] != "converged"]
        for note in [*notes, *([f"not converged: {', '.join(failed)}"] if failed else [])]:
            typer.echo(f"Note: {note}")
    write_figure(plot, lambda: _draw(model, penalty, resampling, runs, fdr), quiet=as_json)


def _size(
    n_samples: float | None,
    n_features: float | None,
    n_signals: float | None,
    alpha: float | None,
    rho: float | None,
) -> tuple[float, float]:
    """Return samples for each variable, and the share of signals."""
    if alpha is None:
        if n_samples is None or n_features is None:
            raise ArgumentError("Give the size as --n-samples with --n-features, or as --alpha.")
        alpha = float(ratios(n_samples, n_features, 0.0)[0])
    elif n_samples is not None:
        raise ArgumentError("Give either --alpha or --n-samples, not both.")
    if rho is None:
        if n_signals is None or n_features is None:
            raise ArgumentError("Give the signals as --n-signals with --n-features, or as --rho.")
        rho = float(ratios(n_samples or 1.0, n_features, n_signals)[1])
    elif n_signals is not None:
        raise ArgumentError("Give either --rho or --n-signals, not both.")
    return alpha, rho


def _model(
    alpha: float, rho: float, strength: str, noise: float, effects: EffectLaw
) -> theory.Model:
    """Return the model of a study; `noise` is given as the option `strength`."""
    if strength != "delta":
        noise = float((noise_from_r2 if strength == "r2" else noise_from_snr)(rho, noise))
    from selica import theory

    return theory.Model(alpha, rho, noise, effects.law)


def _snr(effect_size: float, n_features: float | None, rho: float) -> float:
    """Return the ratio of signal to noise of effects with this root mean square."""
    if n_features is None:
        raise ArgumentError("--effect-size must go with the number of variables (-p).")
    number("effect_size", effect_size, at_least=1e-5, at_most=1e3)
    return rho * n_features * effect_size**2


def _rate(mu_B: float | None) -> float:
    """Return the rate of a method that resamples; the others do not look at it."""
    return 1.0 if mu_B is None else mu_B


def _row(
    point: theory.OperatingPoint,
    rate: float | None,
    model: theory.Model,
    n_samples: float | None,
    n_features: float | None,
) -> dict[str, Any]:
    solution = point.solution
    # no penalty keeps the level: the lasso selects nothing
    lam = None if point.method == "lasso" and math.isinf(point.threshold) else point.lam
    lam = None if point.method == "bayes" else lam
    row: dict[str, Any] = {
        "method": point.method,
        "mu_B": rate,
        "lam": lam,
        "threshold_name": point.threshold_name,
        "threshold": point.threshold,
        "tpr": point.tpr,
        "fpr": point.fpr,
        "fdr": point.fdr,
        "ensemble_error": solution.ensemble_error,
        "prediction_error": solution.prediction_error,
    }
    if n_samples is not None and n_features is not None and model.rho + model.Delta > 0.0:
        row["penalty_on_data"] = None
        if lam is not None:
            sizes = (n_samples, n_features, model.rho, model.Delta, _rate(rate))
            row["penalty_on_data"] = float(penalty_of_data(lam, *sizes))
    if n_features is not None:
        row["true_selections"] = n_features * model.rho * point.tpr
        row["false_selections"] = n_features * (1.0 - model.rho) * point.fpr
    row |= {name: getattr(solution, name, None) for name in _ORDER}
    row |= {"status": solution.status, "residual": solution.residual}
    return row


def _reached(
    model: theory.Model, n_samples: float | None, n_features: float | None, fdr: float
) -> tuple[list[Prediction] | None, str | None]:
    """Return what procedures find in such a study; or why that is not known."""
    if n_samples is None or n_features is None:
        return None, "this needs the numbers of samples and variables (-n and -p)"
    from selica.planning.predict.prediction import check_level, predict
    from selica.planning.study import Study

    try:
        k = round(model.rho * n_features)
        law = model.effects
        study = Study.of(int(n_samples), int(n_features), k, snr=model.snr, effects=law)
        level = check_level(fdr)
    except ArgumentError as error:
        return None, options_named(str(error)).rstrip(".")
    names = [one.name for one in catalogue.methods(beside_ideal=True)]
    return [predict(study, name, level) for name in each(names, "procedures")], None


def _reached_dict(one: Prediction) -> dict[str, Any]:
    return one.to_dict() | {"label": label(one.method)}


def _print_study(
    model: theory.Model, effects: EffectLaw, n_samples: float | None, n_features: float | None
) -> None:
    """Print what was asked, in a sentence."""
    from selica._core.wording import signals

    r2 = model.rho / (model.rho + model.Delta) if model.rho + model.Delta > 0 else 0.0
    share = f"a share rho = {model.rho:.4g} of the variables are signals"
    if n_features is not None:
        share = f"{n_features:.15g} variables, {signals(round(model.rho * n_features))}"
    size = f"{model.alpha:.4g} samples per variable (alpha)"
    if n_samples is not None:
        size = f"{n_samples:.15g} samples"
    say(f"{size}, {share}, R2 = {r2:.3g}, {effects.law.label}")


def _print_ideal(fdr: float, rows: list[dict[str, Any]], n_features: float | None) -> None:
    """Print power at the ideal threshold."""
    counted = n_features is not None
    typer.echo()
    first = {"power": "tpr", "FDR": "fdr"}
    first |= {"found": "true_selections", "false": "false_selections"} if counted else {}
    say(f"Ideal power at FDR {fdr:g}, at thresholds that nobody knows in practice:")
    _table(Console(highlight=False), None, first | {"ideal threshold": "threshold"}, rows)
    if counted:
        say(COUNTS)
    say("rate: number of rows drawn per row of the data in each resample")
    say(
        "share of copies: a variable is selected if its statistic is larger than that of its copy "
        "in at least the share Pi_th of the copies (or, with Z_th, in half of them by at least "
        "Z_th)"
    )
    say(CEILING)


def _print_reached(reached: list[Prediction] | None, reason: str | None, fdr: float) -> None:
    """Print what procedures find that set their threshold by the data."""
    typer.echo()
    if reached is None:
        say(f"The power of real procedures is not predicted here: {reason}.")
        return
    lines = [[label(one.method), *numbers(one)] for one in reached]
    say(f"Power at FDR {fdr:g} of procedures that set their threshold from the data:")
    print_table(Console(highlight=False), ["method", "power", "FDR", "found", "false"], lines)
    typer.echo()
    say(
        "These have their best settings; `selica plan compare` says what they control and how to "
        "run them."
    )


def _print_details(model: theory.Model, rows: list[dict[str, Any]]) -> None:
    """Print penalties, errors and order parameters."""
    console = Console(highlight=False)
    typer.echo()
    say(
        f"In the article's units alpha = {model.alpha:.4g}, rho = {model.rho:.4g}, "
        f"Delta = {model.Delta:.4g}"
    )
    typer.echo()
    on_data = any("penalty_on_data" in row for row in rows)
    second = {"lam": "lam"} | ({"penalty": "penalty_on_data"} if on_data else {})
    second |= {"error, one fit": "prediction_error", "error, average": "ensemble_error"}
    _table(console, "Penalty and prediction error (noise included)", second, rows)
    if on_data:
        console.print("penalty: glmnet's lambda (scikit-learn's alpha), for standardised X and y\n")
    overlaps = {"q": "q", "m": "m", "chi": "chi", "v": "v", "v~": "v_tilde", "chi~": "chi_tilde"}
    _table(console, "Order parameters", overlaps, rows)
    conjugates = {"Q^": "Q_hat", "m^": "m_hat", "chi^": "chi_hat", "v^": "v_hat"}
    _table(console, "Conjugates", conjugates | {"v~^": "v_tilde_hat"}, rows)


def _table(
    console: Console, title: str | None, columns: dict[str, str], rows: list[dict[str, Any]]
) -> None:
    lines = [[_name(row), *(_cell(row, key) for key in columns.values())] for row in rows]
    print_table(console, ["method", *columns], lines, title, wrapped=True)
    console.print()


def _cell(row: dict[str, Any], key: str) -> str:
    value = row[key]
    if key == "threshold":
        near_one = row["threshold_name"] == "Pi_th" and 0.999 < value < 1.0
        return f"{row['threshold_name']} " + (
            f"1-{1.0 - value:.2g}" if near_one else _number(value)
        )
    if key in ("tpr", "fdr"):
        return f"{value:.4f}"
    return f"{value:.1f}" if key.endswith("_selections") else _number(value)


def _name(row: dict[str, Any]) -> str:
    name = label(row["method"])
    return name if row["mu_B"] is None else f"{name}, rate {row['mu_B']:g}"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}"


def _draw(
    model: theory.Model, penalty: float | str, resampling: TheoryResampling, runs: Runs, fdr: float
) -> Figure:
    from selica import theory
    from selica.plots import plot_power

    levels = np.linspace(0.0, max(0.4, min(1.0, 1.5 * fdr)), 121)[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)  # said with the table
        curves = [
            theory.power_curve(model, method, levels, penalty, _rate(rate), resampling.value)
            for method, rate in each(runs, "drawing")
        ]
    title = f"{model.alpha:.3g} samples per variable, {100 * model.rho:.3g} % signals"
    return plot_power(curves, [rate for _, rate in runs], fdr, title)
