"""What `selica app` serves."""

from __future__ import annotations

import streamlit as st

from selica.app import plan_tab, predict_tab, select_tab
from selica.app.markup import STYLE

TABS = {"Predict": predict_tab.show, "Plan": plan_tab.show, "Select": select_tab.show}


def show() -> None:
    """The whole page; only the open tab does any work."""
    st.set_page_config(page_title="selica", page_icon="◎", layout="wide")
    st.html(STYLE)
    st.html(
        "<header class=selica-head><b>selica</b><span>Which variables matter, and how many of "
        "them a study can find.</span></header>"
    )
    for tab, show_tab in zip(
        st.tabs(list(TABS), key="tab", bind="query-params"), TABS.values(), strict=True
    ):
        if tab.open:
            with tab:
                show_tab()
