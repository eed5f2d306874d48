r"""The replicated system, drawn: which replicas share what.

All replicas share the data D. Replicas :math:`w_{k1}, w_{k2}, \ldots` of one box also share one
draw :math:`D^*_k` of the algorithm's randomness (a bootstrap sample, or a knockoff copy). Averages
over the randomness at fixed data need several boxes, and the whole is repeated for each data set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selica._core.table import Table
from selica.experiments.figures.figure import Finding, Run
from selica.plots.canvas import canvas
from selica.plots.schematic import arrow, box, dot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "The replicated system"

_PLACES = ("1", "2", "m")
_INNER = ("1", "2", "n")


def compute(scale: str, run: Run = Run()) -> Table:  # noqa: ARG001, B008 (immutable)
    """The replicas: the box each is in, and its overlap with the first of the first box."""
    rows = []
    for k in _PLACES:
        for j in _INNER:
            same = (k, j) == (_PLACES[0], _INNER[0])
            overlap = "Q" if same else "q + v" if k == _PLACES[0] else "q"
            rows.append({"box": k, "replica": j, "overlap_with_first": overlap})
    return Table.of(rows)


def findings(table: Table) -> list[Finding]:
    """What the drawing says in words."""
    boxes, inside = len(table.unique("box")), len(table.unique("replica"))
    return [
        Finding(
            f"{boxes} boxes of {inside} replicas stand for m boxes of n: within a box replicas "
            "overlap by q + v, between boxes by q, so v is the spread over the randomness"
        )
    ]


def draw(table: Table) -> Figure:
    """Data, draws of the randomness, replicas."""
    figure, ((axes,),) = canvas(size=(7.4, 4.3))
    axes.set(xlim=(0.0, 10.6), ylim=(0.1, 6.1), aspect="equal")
    axes.axis("off")
    for shift in (0.24, 0.12):  # further data sets behind
        box(axes, (0.2 + shift, 0.3 + shift), (10.0, 5.3), colour="0.75", fill="white", width=0.8)
    box(axes, (0.2, 0.3), (10.0, 5.3), colour="0.25", fill="white", width=1.4)
    axes.text(0.4, 5.33, "data set $D$: shared by all replicas", fontsize=9.5, va="center")
    axes.text(5.2, 4.72, "average over the data", fontsize=8, color="0.35", ha="center")
    colours = ("#0072B2", "#D55E00", "#009E73")
    width, left = 2.7, (0.5, 3.55, 7.2)
    for k, colour, x in zip(table.unique("box"), colours, left, strict=True):
        box(axes, (x, 1.15), (width, 3.0), colour=colour, fill="#f6f8fa")
        label = f"randomness $D^*_{{{k}}}$"
        axes.text(x + width / 2, 3.83, label, ha="center", fontsize=9, color=colour)
        inside = table.where(box=k).unique("replica")
        for j, dx in zip(inside, (0.45, 1.15, 2.25), strict=True):
            dot(axes, (x + dx, 2.75), rf"$w_{{{k}{j}}}$", colour)
        axes.text(x + 1.7, 2.75, "···", ha="center", va="center", fontsize=10)
        axes.text(x + width / 2, 1.95, r"$e^{-\beta\,\mathcal{L}(w;\,D,\,D^*)}$",
                  ha="center", va="center", fontsize=9)  # fmt: skip
        axes.text(x + width / 2, 1.42, "$q+v$ inside", ha="center", fontsize=8, color="0.35")
        arrow(axes, (5.2, 4.62), (x + width / 2, 4.2))
    axes.text(6.72, 2.65, "···", ha="center", va="center", fontsize=14)
    axes.annotate("", (3.5, 0.82), xytext=(1.85, 0.82),
                  arrowprops={"arrowstyle": "<|-|>", "color": "0.45", "lw": 1.1})  # fmt: skip
    axes.text(3.65, 0.82, "$q$ between boxes", va="center", fontsize=8, color="0.35")
    axes.text(10.0, 0.62, "$m$ boxes of $n$ replicas,\n$n \\to 0$, $m \\to 0$", ha="right",
              va="center", fontsize=8, color="0.35")  # fmt: skip
    return figure
