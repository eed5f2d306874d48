"""How far a long selection has come, and what Ctrl-C leaves of it.

- `reporting`: call a function with the progress of what is computed inside;
- `stoppable`: inside, Ctrl-C ends an ensemble early, and the selector answers with what is there;
- `keeping`: inside, finished resamples and copies are kept in a folder, so that a run that was
  killed goes on where it was.

>>> from selica import progress
>>> with progress.stoppable() as stop:
...     pass  # fit a selector here
>>> stop.used
False
"""

from selica._core.keeping import keeping
from selica._core.progress import reporting, stoppable

__all__ = ["keeping", "reporting", "stoppable"]
