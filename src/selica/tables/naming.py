"""What names of columns tell: persons and families, numbers of rows, times and events."""

from __future__ import annotations

import re


def vocabulary(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


# Words in names of columns: who or what a row may be about, and what may stand beside them.
_PEOPLE = vocabulary(
    "patient subject subj person participant individual indiv donor animal mouse rat "
    "volunteer proband respondent student child sample specimen iid pid ptid usubjid mrn id "
    "identifier"
)
_FAMILIES = vocabulary(
    "family fam fid famid pedigree litter cage household twin pair couple sibship mother dam "
    "sire herd clutch nest pen tank"
)
_LABELS = vocabulary(
    "id ids identifier no nr num number code name key label ref record study trial cohort "
    "medical hospital anonymised anonymized unique original"
)
_NUMBERED = vocabulary("index row rownumber rowid rownames serial")
_MEASURED = vocabulary(
    "age date day days week month year time hour minute second visit score grade stage dose "
    "level count size rate ratio mean rank quantile percentile position pos well plate chip "
    "slide lane batch run array zip postcode"
)
_GROUPS = vocabulary(
    "batch site center centre plate lane chip array run hospital clinic ward cluster group arm "
    "country region district school class race ethnicity genotype type code category"
)
# Words for survival data.
_ENDPOINTS = vocabulary("os pfs dfs rfs efs dss dfi pfi")
_TIMES = vocabulary(
    "time times survival surv os pfs dfs rfs efs dss dfi pfi ttp tte futime followup fu "
    "lifetime duration days months years weeks day month year"
)
_CALENDAR = vocabulary("day month year")
_TIME_FILLERS = vocabulary(
    "to of in until till since from follow up last overall progression disease event death "
    "relapse recurrence failure free specific d m y obs observed observation"
)
_EVENTS = vocabulary(
    "event events death dead died deceased censored censor cens censoring uncensored failure "
    "failed status relapse relapsed recurrence"
)
_EVENT_FILLERS = _ENDPOINTS | vocabulary(
    "vital survival surv overall progression disease free specific indicator ind flag is of "
    "fu followup"
)
LARGEST_FAMILY = 50
"""Rows of a family, or of a group whose members are equally many."""


def words_of(name: str) -> list[str]:
    """Return the words of a name: small letters, parted at signs, numbers and capitals."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return re.findall(r"[a-z]+", parted)


def is_plural(name: str) -> bool:
    """Tell whether a name is that of several persons or families, and of no label."""
    words = words_of(name)
    return bool(words) and all(
        word.endswith("s") and word[:-1] in _PEOPLE | _FAMILIES for word in words
    )


def _plain_word(word: str) -> str:
    """Return a word for persons or families without its ending: patientid is patient."""
    for ending in ("ids", "id", "no", "nr", "num", "number", "code", "name", "s"):
        stem = word.removesuffix(ending)
        if stem != word and stem in _PEOPLE | _FAMILIES:
            return stem
    return word


def named_for_groups(name: str, rows_per_group: float) -> bool:
    """Tell whether a name is that of persons or families to which several rows belong."""
    words = {_plain_word(word) for word in words_of(name)}
    if not words or not words <= _PEOPLE | _FAMILIES | _LABELS:
        return False
    return bool(words & _PEOPLE) or (bool(words & _FAMILIES) and rows_per_group <= LARGEST_FAMILY)


def named_for_rows(name: str) -> bool:
    """Tell whether a name is that of a number or label of the rows."""
    words = {_plain_word(word) for word in words_of(name)}
    return bool(words & (_PEOPLE | _NUMBERED)) and words <= _PEOPLE | _NUMBERED | _LABELS


def is_measured(name: str) -> bool:
    """Tell whether a name is that of something measured, whose values may be equally many."""
    return bool(_MEASURED & set(words_of(name)))


def is_of_groups(name: str) -> bool:
    """Tell whether a name is that of groups, which are often numbered: a batch, a centre."""
    return bool(_GROUPS & set(words_of(name)))


def is_date_name(name: str) -> bool:
    """Tell whether a name says that a column holds dates."""
    return bool({"date", "datum", "dob"} & set(words_of(name)))


def is_time(name: str) -> bool:
    """Tell whether a name is that of a time until an event."""
    words = set(words_of(name))
    return bool(words & _TIMES) and words <= _TIMES | _TIME_FILLERS and not words <= _CALENDAR


def is_event(name: str) -> bool:
    """Tell whether a name is that of an indicator of an event."""
    words = set(words_of(name))
    endpoint = bool(words) and words <= _ENDPOINTS
    return endpoint or (bool(words & _EVENTS) and words <= _EVENTS | _EVENT_FILLERS)


def is_of_censoring(name: str) -> bool:
    """Tell whether a name says that a yes means that the event was not seen."""
    return "censored" in words_of(name)
