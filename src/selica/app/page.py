"""What `selica app` serves."""

from __future__ import annotations

from importlib import import_module

import streamlit as st

from selica.app.component import component
from selica.app.markup import STYLE

KEPT = "kept "
"""How the keys begin of controls that keep their values while another tab is open."""
TABS = {
    "Predict": "predict_tab",
    "Plan": "plan_tab",
    "Select": "select_tab",
    "Theory": "theory_tab",
}
"""Tabs of the page, by the module that shows each."""


def show() -> None:
    """Show the page. Only the open tab does any work, and loads what it needs for it."""
    st.set_page_config(page_title="selica", page_icon="◎", layout="wide")
    with st.container(key="page"):
        _tabs()


def _tabs() -> None:
    """Show the head, and the open tab."""
    st.html(STYLE)
    st.html(
        "<header class=selica-head><b>selica</b><span>Which variables matter, and how many of "
        "them a study can find.</span></header>"
    )
    component("page", "picture", "chart", "sorting")(key="scripts")
    tabs = st.tabs(list(TABS), key="tab", bind="query-params")
    # Streamlit forgets a control that is not drawn, unless its value was set
    for key in [key for key in st.session_state if str(key).startswith(KEPT)]:
        st.session_state[key] = st.session_state[key]
    for tab, module in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab:
                import_module(f"selica.app.{module}").show()
