"""Where a slider is while it is dragged: Streamlit's own sliders tell it when they are let go."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

KEY = "dragged"
"""The name under which the page keeps the slider that is dragged."""
# One value at a time: the next leaves when the answer to the last is drawn, or after a second.
_SCRIPT = """
export default function ({ parentElement, setTriggerValue }) {
  if (parentElement.tell) {
    parentElement.tell = setTriggerValue;
    return;
  }
  parentElement.tell = setTriggerValue;
  let thumb = null, key = "", begun = "", sent = "", since = 0, clock = 0;
  const tell = () => {
    if (thumb.value === sent) return;
    sent = thumb.value;
    since = performance.now();
    parentElement.tell("moved", { key, value: Number(sent) });
  };
  const look = () => {
    if (!since || performance.now() > since + 1000) tell();
  };
  const down = event => {
    const slider = event.target.closest?.("[data-testid=stSlider]");
    thumb = slider?.querySelector("input[type=range]") ?? null;
    if (!thumb) return;
    key = slider.closest("[class*=st-key-]")?.className.match(/st-key-(\\S+)/)?.[1] ?? "";
    begun = sent = thumb.value;
    since = 0;
    clearInterval(clock);
    clock = setInterval(look, 40);
  };
  const up = () => {
    clearInterval(clock);
    if (thumb?.value === begun) tell(); // back where it was: Streamlit tells nothing
    thumb = null;
  };
  const drawn = new MutationObserver(changes => {
    if (thumb && changes.some(one => one.target.closest?.(".stHtml"))) since = 0;
  });
  drawn.observe(document.body, { subtree: true, childList: true });
  const listeners = { pointerdown: down, pointerup: up, pointercancel: up };
  for (const [name, listener] of Object.entries(listeners))
    document.addEventListener(name, listener, true);
  return () => {
    delete parentElement.tell;
    clearInterval(clock);
    drawn.disconnect();
    for (const [name, listener] of Object.entries(listeners))
      document.removeEventListener(name, listener, true);
  };
}
"""


@cache
def _component() -> Callable[..., Any]:
    """Register the component when a page is served, not before."""
    return st.components.v2.component("selica_dragging", js=_SCRIPT)


def dragged() -> tuple[str, float] | None:
    """Return key and value of the slider that is being dragged, if one is."""
    return said(_component()(key=KEY, on_moved_change=lambda: None).moved)


def said(moved: Any) -> tuple[str, float] | None:
    """Return what a browser says, as far as it makes sense."""
    try:
        key, value = str(moved["key"]), float(moved["value"])
    except (TypeError, KeyError, ValueError, OverflowError):
        return None
    return (key, value) if math.isfinite(value) else None
