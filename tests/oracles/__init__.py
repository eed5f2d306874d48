"""Slow, independent reference computations used by the tests."""
