"""Awkward tables give the right answer or one sentence: no traceback, no guess in silence."""

from __future__ import annotations

import pytest

from selica._core.errors import SelicaError
from selica.tables import parse_table, prepare
from tests.tables.catalogue import CASES, Case


def prepared(case: Case):
    table = case.table
    if isinstance(table, bytes):
        table = parse_table(case.file, table)
    return prepare(table, case.target, **case.options)


@pytest.mark.parametrize("title", [title for title, case in CASES.items() if not case.error])
def test_awkward_tables_are_prepared(title):
    case = CASES[title]
    found = prepared(case)
    assert found.columns == case.columns
    assert {one.name: one.reason for one in found.left_out} == case.left_out
    assert found.response == case.response
    said = [note for note in found.notes if "left out:" not in note and "resample" not in note]
    assert said == list(case.notes)
    assert case.check is None or case.check(found)
    for name in case.left_out:
        assert any(repr(name) in note for note in found.notes)


@pytest.mark.parametrize("title", [title for title, case in CASES.items() if case.error])
def test_awkward_tables_are_refused_in_a_sentence(title):
    case = CASES[title]
    with pytest.raises(SelicaError) as error:
        prepared(case)
    assert str(error.value).removeprefix(f"{case.file}: ") == case.error


def test_there_are_many_awkward_tables():
    assert len(CASES) >= 30
