"""Published selections from real data; the folder is named by SELICA_DATA."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from selica import DerandomizedKnockoffs, LassoSelection, StabilitySelection
from selica.selectors import AssumptionWarning, UnstableWarning

pytestmark = pytest.mark.skipif("SELICA_DATA" not in os.environ, reason="SELICA_DATA is not set")


def read(*path):
    return pd.read_csv(Path(os.environ["SELICA_DATA"], *path))


@pytest.mark.filterwarnings("ignore:Near-duplicate columns")
def test_the_logistic_lasso_selects_the_documented_genes_of_the_colon_data():
    """The reference of biglasso 1.7.0 lists these for lambda = 0.05, counted from 1."""
    table = read("colon_alon1999", "colon.csv.gz")
    selector = LassoSelection(lam=0.05, response="binary")
    selector.fit(table.drop(columns="tumor"), table["tumor"])
    documented = [
        249, 377, 617, 639, 765, 1024, 1325, 1346, 1423, 1482, 1504, 1582, 1641, 1644, 1772, 1870,
    ]  # fmt: skip
    assert selector.get_support(indices=True).tolist() == [j - 1 for j in documented]


@pytest.mark.parametrize("resampling", ["pairs", "subsample"])
def test_the_published_genes_lead_for_riboflavin(resampling):
    """Genes attributed to Bühlmann, Kalisch and Meier (2014): the first three of q = 20."""
    table = read("riboflavin", "riboflavin.csv.gz")
    X = table.drop(columns=["sample", "y"])
    selector = StabilitySelection(
        q=20, pfer=1.0, resampling=resampling, n_resamples=500, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        selector.fit(X, table["y"])
    assert selector.threshold_ == pytest.approx((1 + 20**2 / 4088) / 2, abs=2e-3)
    order = np.argsort(-selector.selection_probabilities_, kind="stable")
    assert {"LYSC_at", "YOAB_at", "YXLD_at"} <= set(X.columns[order[:5]])
    marginal = np.sign(X.corrwith(table["y"]).to_numpy())
    np.testing.assert_array_equal(selector.signs_[order[:3]], marginal[order[:3]])


@pytest.mark.parametrize(("family", "drug"), [("PI", "ATV"), ("PI", "LPV"), ("NRTI", "3TC")])
def test_most_positions_found_for_a_drug_are_selected_by_treatment(family, drug):
    """Mutations of Rhee et al. (2006) against the list of Rhee et al. (2005), by position."""
    table = read("hiv_drug_resistance", f"{family}.csv.gz").dropna(subset=drug)
    X = table.filter(regex=r"^P\d+\.")
    X = X.loc[:, X.sum() >= 3]
    X = X.loc[:, ~X.T.duplicated(keep=False)]
    published = read("hiv_drug_resistance", "published_discoveries.csv")
    n, p = published.loc[published["drug"] == drug, ["n", "p"]].iloc[0]
    assert X.shape == (n, p)
    selector = DerandomizedKnockoffs(fdr=0.2, n_copies=10, random_state=0)
    with pytest.warns(AssumptionWarning, match="few values"):
        selector.fit(X, np.log(table[drug]))
    tsm = read("hiv_drug_resistance", "tsm.csv")
    known = set(tsm.loc[tsm["drug_class"] == family, "position"])
    found = {int(name[1:].split(".")[0]) for name in selector.get_feature_names_out()}
    assert len(found) >= 8
    assert len(found & known) > 0.55 * len(found)
    assert not selector.guarantee_.proven
