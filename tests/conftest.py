"""For all tests: what a new machine says while it compiles is no part of any output."""

from __future__ import annotations

import os

from selica._core.compiled import QUIET

os.environ.setdefault(QUIET, "1")
