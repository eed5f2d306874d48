"""Functions, selectors and commands, called with what it should not be called with."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

from selica.reports import parse_table
from tests.hardening.fuzzing import (
    BYTES,
    FILES,
    FUNCTIONS,
    arguments,
    call,
    command_lines,
    run_command,
    selecting,
)

CASES = int(os.environ.get("SELICA_FUZZ", "4"))
"""For each function; `make reliability` asks for many."""
fuzzed = settings(
    max_examples=CASES,
    deadline=None,
    database=None,
    derandomize=CASES == 4,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    @fuzzed
    @given(arguments(FUNCTIONS[name]))
    def check(kwargs):
        call(name, FUNCTIONS[name], **kwargs)

    check()


def test_files():
    @settings(fuzzed, max_examples=8 * CASES)
    @given(FILES, BYTES)
    def check(name, content):
        call("parse_table", parse_table, name=name, content=content)

    check()


def test_selectors():
    @settings(fuzzed, max_examples=8 * CASES)
    @given(selecting())
    def check(case):
        kind, parameters, X, y = case
        # scikit-learn checks tables in its own words
        call(kind.__name__, lambda: kind(**parameters).fit(X, y), (ValueError, TypeError))

    check()


def test_commands(tmp_path):
    @settings(fuzzed, max_examples=4 * CASES)
    @given(command_lines())
    def check(words):
        run_command(words, tmp_path)

    check()
