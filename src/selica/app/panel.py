"""Controls of a tab. Their values are in the address: links show them, the back button goes back.

While a slider is held the answer follows it, and the address stays; when it is let go, the script
of the panel changes the address, which is an entry in the history of the browser and asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from selica.app.component import component
from selica.app.fields import Field, Value

Values = dict[str, Value]
_VALUES = "values"
"""Where a window keeps the values of all controls."""
_ADDRESS = "address"
"""Where it keeps the part of the address that they were read from."""
_HEARD = "heard"
"""What the browser told since the page was last drawn."""
_COUNT = "count"
"""The number of the last message."""
_SHOWN_SIGNS = 40
"""Signs of a value without sense that are shown."""


class Panel:
    """The controls of a tab.

    Parameters
    ----------
    name : str
        Of the tab.
    fields : sequence of Field
        All controls that the tab can have.
    """

    def __init__(self, name: str, fields: Sequence[Field]) -> None:
        self._key = f"panel-{name}"
        self._fields = {field.key: field for field in fields}

    def values(self) -> Values:
        """Return the values of all fields: as the browser told, else as the address says."""
        state = st.session_state
        known: Values = state.setdefault(_VALUES, {})
        heard = state.pop(_HEARD, None)
        if heard is not None:
            known |= self._sensible(heard)
            self._remember()
        elif self._address() != state.get(_ADDRESS, {}).get(self._key):
            known |= self._linked()
            self._remember()
        return {key: known.get(key, field.first) for key, field in self._fields.items()}

    def ignored(self) -> list[str]:
        """Return values of the address that make no sense, with what would."""
        return [
            f"{key}={_short(text)} ({self._fields[key].wanted} is needed)"
            for key, text in self._address().items()
            if self._fields[key].parse(text) is None
        ]

    def show(self, shown: Sequence[Field], values: Mapping[str, Value]) -> None:
        """Show some of the fields."""
        data = {
            "fields": [field.data(values[field.key]) for field in shown],
            "count": st.session_state.get(_COUNT, 0),
        }
        mount: Callable[..., Any] = component("panel")
        mount(key=self._key, data=data, on_told_change=self._hear)

    def _hear(self) -> None:
        """Note what the browser tells; this runs before the page is drawn."""
        message = getattr(st.session_state.get(self._key), "told", None)
        st.session_state[_HEARD] = message
        if isinstance(message, Mapping) and isinstance(message.get("count"), int):
            st.session_state[_COUNT] = message["count"]

    def _sensible(self, message: Any) -> Values:
        """Return the values in a message, as far as they make sense."""
        told = message.get("values") if isinstance(message, Mapping) else None
        found = {
            key: self._fields[key].parse(value)
            for key, value in (told if isinstance(told, Mapping) else {}).items()
            if key in self._fields
        }
        return {key: value for key, value in found.items() if value is not None}

    def _address(self) -> dict[str, str]:
        return {key: st.query_params[key] for key in self._fields if key in st.query_params}

    def _linked(self) -> Values:
        """Return the values in the address; what it does not have is as in the beginning."""
        address = self._address()
        found = {key: field.parse(address.get(key)) for key, field in self._fields.items()}
        return {
            key: self._fields[key].first if value is None else value for key, value in found.items()
        }

    def _remember(self) -> None:
        """Keep in mind which address the values belong to."""
        st.session_state.setdefault(_ADDRESS, {})[self._key] = self._address()


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_SIGNS else f"{text[: _SHOWN_SIGNS - 1]}…"
