"""Awkward tables give the right answer or one sentence: no traceback, no guess in silence."""

from __future__ import annotations

import pytest

import selica
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
    said = [note for note in found.notes if " left out: '" not in note and "resample" not in note]
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
    assert len(CASES) >= 100


@pytest.mark.parametrize("title", [title for title, case in CASES.items() if not case.error])
def test_awkward_tables_are_selected_from(title):
    """From the table to the answer: every variable has its row, and every note is passed on."""
    case = CASES[title]
    ready = prepared(case)
    table = parse_table(case.file, case.table) if isinstance(case.table, bytes) else case.table
    found = selica.select(table, case.target, method="lasso", lam=0.3, **case.options)
    assert {row["variable"] for row in found.summary.variables} == set(ready.names)
    assert found.n_samples == len(ready.rows)
    assert set(ready.notes) <= set(found.cautions)
    kinds = {"auto": ("linear",)}.get(case.response, (case.response,))
    assert found.response["kind"] in kinds
    printed = " ".join(str(found).split())  # which is wrapped
    assert all(" ".join(note.split()) in printed for note in ready.notes)
