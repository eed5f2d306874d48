"""What comes after a selector in a pipeline, where nothing may have been selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import ArgumentError
from selica._core.validation import short


def _estimator_has(method: str) -> Callable[[Any], bool]:
    """Return a check that the estimator inside has a method."""

    def check(self: Any) -> bool:
        return hasattr(self.estimator, method)

    return check


class InterceptIfEmpty(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator that also takes a table without columns, and then fits its intercept alone.

    A selector that selects nothing hands a table without columns to the next step of a pipeline.
    The estimators of scikit-learn refuse it, so that a fold of a cross-validation fails because
    nothing was found. Inside `InterceptIfEmpty` such a fold has the score that belongs to it: that
    of the mean of the response, or of the shares of its classes.

    Parameters
    ----------
    estimator : regressor or classifier of scikit-learn
        Fitted to a copy, wherever there is a column.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy; without columns a `DummyRegressor` or a `DummyClassifier`.
    empty_ : bool
        Whether there were no columns.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from selica import InterceptIfEmpty, StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((100, 20)), rng.standard_normal(100)  # nothing to find
    >>> model = make_pipeline(
    ...     StabilitySelection(random_state=0), InterceptIfEmpty(LinearRegression())
    ... )
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     prediction = model.fit(X, y).predict(X)
    >>> model[-1].empty_, bool(np.all(prediction == y.mean()))
    (True, True)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, **settings: Any) -> InterceptIfEmpty:
        """Fit the estimator, or its intercept where there are no columns.

        Parameters
        ----------
        X : table of shape (n, k)
        y : array of shape (n,)
        **settings
            As the estimator takes them, such as `sample_weight`.

        Returns
        -------
        self
        """
        shape = getattr(X, "shape", None)
        self.empty_ = shape is not None and len(shape) == 2 and shape[1] == 0
        if not hasattr(self.estimator, "fit"):
            raise ArgumentError(f"estimator must have fit; got {short(self.estimator)}.")
        if not self.empty_:
            self.estimator_ = clone(self.estimator).fit(X, y, **settings)
        else:
            constant = (
                DummyClassifier(strategy="prior")
                if is_classifier(self.estimator)
                else DummyRegressor(strategy="mean")
            )
            weight = settings.get("sample_weight")
            self.estimator_ = constant.fit(X, y, sample_weight=weight)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> Any:
        """Return predictions.

        Parameters
        ----------
        X : table of shape (n, k)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes; without columns their shares.

        Parameters
        ----------
        X : table of shape (n, k)

        Returns
        -------
        array of shape (n, classes)
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classes; without columns the logarithms of their shares.

        Parameters
        ----------
        X : table of shape (n, k)

        Returns
        -------
        array of shape (n,) or (n, classes)
        """
        check_is_fitted(self, "estimator_")
        if not self.empty_:
            return self.estimator_.decision_function(X)
        score = np.log(self.estimator_.predict_proba(X))
        return score[:, 1] - score[:, 0] if score.shape[1] == 2 else score

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the estimator: R squared, or the share of correct classes.

        Parameters
        ----------
        X : table of shape (n, k)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self, "estimator_")
        return float(self.estimator_.score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags
