"""Names that are still accepted though the thing has another one now."""

from __future__ import annotations

from selica._core.errors import RenamedWarning
from selica._core.warning import warn

REMOVAL = "1.1"
"""Version without the names that were former ones in 1.0."""


def renamed(former: str, name: str, removal: str = REMOVAL) -> None:
    """Say that a name is a former one, by a warning at the line that uses it.

    Parameters
    ----------
    former, name : str
        The name that was used and the one to use, as a user writes them.
    removal : str
        First version that will not accept the former name.

    Examples
    --------
    >>> import warnings
    >>> from selica._core.deprecation import renamed
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     renamed("theory.Reach", "theory.CostRange")
    >>> print(said[0].message)
    theory.Reach is now called theory.CostRange; the old name will be removed in selica 1.1.
    """
    warn(
        f"{former} is now called {name}; the old name will be removed in selica {removal}.",
        RenamedWarning,
    )
