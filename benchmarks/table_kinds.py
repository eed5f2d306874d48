"""Tables of many kinds whose truth is known: how columns and responses are drawn.

`benchmarks.default_answers` and `benchmarks.arena` list the kinds that they use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator


def independent(rng: Rng, n: int, p: int) -> Any:
    return rng.standard_normal((n, p))


def autoregressive(rho: float) -> Callable[..., Any]:
    def columns(rng: Rng, n: int, p: int) -> Any:
        X = rng.standard_normal((n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
        return X

    return columns


def blocks(size: int, rho: float) -> Callable[..., Any]:
    def columns(rng: Rng, n: int, p: int) -> Any:
        shared = np.repeat(rng.standard_normal((n, -(-p // size))), size, axis=1)[:, :p]
        return np.sqrt(rho) * shared + np.sqrt(1.0 - rho) * rng.standard_normal((n, p))

    return columns


def smooth(shape: tuple[int, ...], width: float) -> Callable[..., Any]:
    """Columns are places of a field of this shape, and neighbours are alike."""

    def columns(rng: Rng, n: int, p: int) -> Any:
        from scipy.ndimage import gaussian_filter

        noise = rng.standard_normal((n, *shape))
        return gaussian_filter(noise, (0, *(width for _ in shape))).reshape(n, -1)

    return columns


def skewed(rng: Rng, n: int, p: int) -> Any:
    return np.exp(rng.standard_normal((n, p)))


def heavy(rng: Rng, n: int, p: int) -> Any:
    return rng.standard_t(3, (n, p))


def rare(rng: Rng, n: int, p: int) -> Any:
    return (rng.random((n, p)) < rng.uniform(0.03, 0.15, p)).astype(float)


def genotypes(rng: Rng, n: int, p: int) -> Any:
    """Counts 0, 1, 2 of neighbours that are inherited together."""
    cut = np.quantile(rng.standard_normal(10_000), rng.uniform(0.5, 0.9, p))
    return sum((autoregressive(0.8)(rng, n, p) > cut).astype(float) for _ in range(2))


def near_duplicates(rng: Rng, n: int, p: int) -> Any:
    X = rng.standard_normal((n, p))
    X[:, 1::2] = X[:, ::2] + 0.15 * X[:, 1::2]
    return X


def some_near_duplicates(rng: Rng, n: int, p: int) -> Any:
    """Each of the last fifth of the columns nearly repeats one of the first."""
    X = rng.standard_normal((n, p))
    many = p // 5
    X[:, -many:] = X[:, :many] + 0.2 * X[:, -many:]
    return X


def diabetes(rng: Rng, n: int, p: int) -> Any:
    """Measurements of 442 patients and products of them."""
    from sklearn.datasets import load_diabetes

    X = load_diabetes().data
    first, second = np.triu_indices(X.shape[1], 1)
    return np.column_stack([X, X[:, first] * X[:, second]])[rng.permutation(len(X))]


def digits(rng: Rng, n: int, p: int) -> Any:
    """Pixels of written digits: counts 0..16, neighbours alike."""
    from sklearn.datasets import load_digits

    X = load_digits().data
    return X[rng.choice(len(X), n, replace=False)][:, X.std(axis=0) > 1.0]


def mixed(rng: Rng, n: int, p: int) -> Any:
    """Numbers, counts and indicators that share a factor."""
    X = 0.5 * rng.standard_normal((n, 1)) + 0.9 * rng.standard_normal((n, p))
    X[:, p // 3 : 2 * p // 3] = rng.poisson(np.exp(0.5 * X[:, p // 3 : 2 * p // 3]))
    X[:, 2 * p // 3 :] = X[:, 2 * p // 3 :] > 0.5
    return X


def _chance(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def _linear(rng: Rng, line: Any) -> Any:
    return line + rng.standard_normal(line.size)


def _heavy_noise(rng: Rng, line: Any) -> Any:
    return line + rng.standard_t(3, line.size) / 3**0.5


def _uneven_noise(rng: Rng, line: Any) -> Any:
    """Noise that grows with the size of the signal, with a mean variance of one."""
    scale = 0.5 + np.abs(line)
    return line + rng.standard_normal(line.size) * scale / np.sqrt(np.mean(scale**2))


def _binary(rng: Rng, line: Any) -> Any:
    return (rng.random(line.size) < _chance(2.0 * line)).astype(float)


def _rare_class(rng: Rng, line: Any) -> Any:
    return (rng.random(line.size) < _chance(2.0 * line - 2.2)).astype(float)


def _counts(rng: Rng, line: Any) -> Any:
    return rng.poisson(np.exp(0.7 + line / 2**0.5)).astype(float)


def _survival(rng: Rng, line: Any) -> Any:
    """Times and events, about half of them observed."""
    time, end = (rng.exponential(scale) for scale in (np.exp(-(2**0.5) * line), np.ones(line.size)))
    return np.column_stack([np.minimum(time, end), time <= end])


def _classes(rng: Rng, line: Any) -> Any:
    """Three classes in order, as text."""
    return np.array(["low", "middle", "high"])[
        np.digitize(2.0 * line + rng.logistic(size=line.size), [-1.0, 1.0])
    ]


RESPONSES: dict[str, tuple[str, Callable[..., Any]]] = {
    "linear": ("linear", _linear),
    "heavy tails": ("linear", _heavy_noise),
    "uneven noise": ("linear", _uneven_noise),
    "binary": ("binary", _binary),
    "one class rare": ("binary", _rare_class),
    "count": ("count", _counts),
    "survival": ("survival", _survival),
    "classes": ("classes", _classes),
}
"""What a response is called in a selector, and how it is drawn from the linear predictor."""


def straight(Z: Any) -> Any:
    """Columns act as they are."""
    return Z


def curved(Z: Any) -> Any:
    """Columns act by a step, their square, their exponential or their size, in turn."""
    out = np.array(Z)
    out[:, 0::4] = Z[:, 0::4] > 0.8
    out[:, 1::4] = Z[:, 1::4] ** 2
    out[:, 2::4] = np.exp(Z[:, 2::4])
    out[:, 3::4] = np.abs(Z[:, 3::4])
    return (out - out.mean(axis=0)) / np.maximum(out.std(axis=0), 1e-12)


class Kind(NamedTuple):
    """Tables of one kind: `n` rows, `p` columns, `k` of which matter."""

    name: str
    n: int
    p: int
    k: int
    columns: Callable[..., Any] = independent
    strength: float = 5.0
    """Coefficient of each column that matters, in standard errors of a single column."""
    effects: str = "equal"
    response: str = "linear"
    shape: Callable[[Any], Any] = straight
    """How the columns that matter act."""

    def draw(self, rng: Rng) -> tuple[Any, Any, Any]:
        """Columns, response, and which columns matter."""
        X = np.asarray(self.columns(rng, self.n, self.p), dtype=float)
        n, p = X.shape
        Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        truth = np.zeros(p, dtype=bool)
        if self.columns is near_duplicates:  # one of a pair, so that the other is false
            truth[2 * rng.choice(p // 2, self.k, replace=False)] = True
        else:
            truth[rng.choice(p, self.k, replace=False)] = True
        size = np.ones(self.k) if self.effects == "equal" else np.abs(rng.standard_normal(self.k))
        coef = self.strength / np.sqrt(n) * size * rng.choice([-1.0, 1.0], self.k)
        return X, RESPONSES[self.response][1](rng, self.shape(Z[:, truth]) @ coef), truth
