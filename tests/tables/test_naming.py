"""What names of columns tell."""

from __future__ import annotations

import pytest

from selica.tables.naming import (
    is_date_name,
    is_event,
    is_measured,
    is_of_censoring,
    is_of_groups,
    is_plural,
    is_time,
    named_for_groups,
    named_for_rows,
    words_of,
)


def test_words_of_a_name():
    assert words_of("PatientID_no2") == ["patient", "id", "no"]
    assert words_of("subject.id") == ["subject", "id"]
    assert words_of("123") == []


def holds(test, yes, no, *more):
    for name in yes.split():
        assert test(name, *more), name
    for name in no.split():
        assert not test(name, *more), name


def test_persons_and_families():
    holds(
        named_for_groups,
        "patient Patient_ID subjectid donor famid litter mouse_no",
        "age gene id_rs7 patient_age country",
        4.0,
    )
    assert named_for_groups("cage", 50.0)
    assert not named_for_groups("cage", 51.0)


def test_numbers_of_rows():
    holds(named_for_rows, "id ID sample row_index rowid sample_no mrn", "age gene1 id_score time")


def test_persons_that_are_counted():
    holds(
        is_plural, "patients families_ subjects".replace("families_", "pairs"), "patient ids_of age"
    )


def test_what_is_measured_or_numbered():
    holds(is_measured, "age visit week_no dose_level", "gene patient")
    holds(is_of_groups, "batch site_no plate", "age gene")


def test_times_events_and_dates():
    holds(
        is_time,
        "time survival_months os_days futime days_to_death OS time_to_event",
        "age day year sometime timepoint gene",
    )
    holds(
        is_event,
        "event status died vital_status OS os_event censored relapse",
        "age preventable gene eventful",
    )
    holds(is_date_name, "visit_date dob DateOfBirth", "update days")
    holds(is_of_censoring, "censored is_censored", "event uncensored")


@pytest.mark.parametrize("name", ["", "1", "ü", "___"])
def test_names_that_tell_nothing(name):
    tests = (is_time, is_event, is_plural, is_date_name, named_for_rows, is_measured, is_of_groups)
    assert not any(test(name) for test in tests)
    assert not named_for_groups(name, 2.0)
