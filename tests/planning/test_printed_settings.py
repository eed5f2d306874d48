"""Settings that a plan prints can be run on data of the response that was planned."""

import numpy as np
import pytest

from selica import catalogue, planning, selectors
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.losses import read_response
from selica.cli.run_lines import SelectorRun
from selica.planning import Binary, Counts, Numeric, Survival
from selica.planning.predict.bounds import carried
from selica.planning.predict.prediction import predict
from selica.planning.questions.listed import listed
from selica.planning.study import LARGEST_PREDICTOR, Study
from selica.selectors.bounds import carried as carried_by
from selica.statistics import make_data

SIZE = (80, 20, 4)
RESPONSES = {one.name: one for one in (Numeric(), Binary(0.4), Counts(2.0), Survival(0.5))}
LOSSES = {
    "numeric": "SquaredLoss", "binary": "LogisticLoss", "counts": "PoissonLoss",
    "survival": "CoxLoss",
}  # fmt: skip


def drawn(name):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(SIZE[:2])
    z = X[:, : SIZE[2]].sum(axis=1)
    times = rng.exponential(size=len(z)) * np.exp(-z)
    y = {
        "numeric": z + rng.standard_normal(len(z)),
        "binary": (rng.random(len(z)) < 1.0 / (1.0 + np.exp(-z))).astype(float),
        "counts": rng.poisson(np.exp(0.5 * z)).astype(float),
        "survival": (np.minimum(times, 1.0), times <= 1.0),
    }
    return X, y[name]


@pytest.mark.filterwarnings("ignore::selica.selectors.UnstableWarning")
@pytest.mark.parametrize("name", RESPONSES)
def test_every_recommendation_runs_with_the_loss_of_the_response(name):
    study = Study.of(*SIZE, snr=1.0, response=RESPONSES[name])
    X, y = drawn(name)
    for method in listed(study, calibrated=True):
        if catalogue.method(method).controls == "PFER" and method != "stability-pfer":
            continue  # the same class with other numbers
        selector = eval(predict(study, method, 0.2, "default").code, vars(selectors))
        loss = read_response(selector.get_params()["response"], y)[0]
        assert type(loss).__name__ == LOSSES[name]
        few = {"random_state": 0, "n_copies": 3, "n_resamples": 10}
        known = selector.get_params()
        selector.set_params(**{key: value for key, value in few.items() if key in known})
        assert selector.fit(X, y).support_.shape == (SIZE[1],)


def test_times_of_events_are_not_planned_with_pvalues_that_no_selector_has():
    times = Study.of(*SIZE, snr=1.0, response=Survival(0.5))
    with pytest.raises(DoesNotApply, match="no p-values for survival times"):
        listed(times, "stability-fdr")
    with pytest.raises(DoesNotApply, match="stability-fdr"):
        planning.compare_methods(
            *SIZE, snr=1.0, response=Survival(0.5), methods=["knockoffs", "stability-fdr"]
        )
    assert "stability-fdr" not in listed(times)
    assert "stability-fdr" in listed(Study.of(*SIZE, snr=1.0))


def test_commands_say_what_the_response_is():
    def words(response):
        study = Study.of(*SIZE, snr=1.0, response=response)
        return " ".join(SelectorRun.on(predict(study, "knockoffs", 0.1, "default"), response).words)

    assert words(Numeric()) == "selica select table.csv --target y --method knockoffs --fdr 0.1"
    assert "--target y --response count " in words(Counts(2.0))
    assert "--time time --event event " in words(Survival(0.5))


@pytest.mark.parametrize("name", sorted(LARGEST_PREDICTOR))
def test_the_largest_predictor_is_one_that_the_theory_has(name):
    study = Study.of(*SIZE, snr=LARGEST_PREDICTOR[name], response=RESPONSES[name])
    assert float(study.theory_response.T) == LARGEST_PREDICTOR[name]
    with pytest.raises(ArgumentError, match="there is a theory up to"):
        Study.of(*SIZE, snr=1.01 * LARGEST_PREDICTOR[name], response=RESPONSES[name])


@pytest.mark.parametrize(
    ("response", "y"),
    [
        (Numeric(), np.arange(200.0)),
        (Binary(0.1), np.repeat([1.0, 0.0], [20, 180])),
        (Binary(0.01, cases=0.6), np.repeat([1.0, 0.0], [120, 80])),
        (Counts(0.25), np.repeat([1.0, 0.0], [50, 150])),
        (Counts(3.0), np.tile([2.0, 4.0], 100)),
        (Survival(0.3), (np.arange(1.0, 201.0), np.arange(200) < 60)),
    ],
    ids=range(6),
)
def test_halves_take_no_more_than_the_selector_lets_them(response, y):
    loss, read = read_response(response.arguments.get("response", "auto"), y)
    data = make_data(np.random.default_rng(0).standard_normal((200, 9)), read.values, loss)
    assert carried(Study.of(200, 9, 3, snr=1.0, response=response)) == carried_by(data)
