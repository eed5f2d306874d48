"""How far a long selection has come, and what Ctrl-C leaves of it.

- `reporting`: call a function with the progress of what is computed inside;
- `stoppable`: inside, Ctrl-C ends an ensemble early, and the selector answers with what is there.

>>> from selica import progress
>>> with progress.stoppable() as stop:
...     pass  # fit a selector here
>>> stop.used
False
"""

from selica._core.progress import reporting, stoppable

__all__ = ["reporting", "stoppable"]
