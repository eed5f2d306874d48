"""From order parameters to selections: rates, curves, penalties and power."""
