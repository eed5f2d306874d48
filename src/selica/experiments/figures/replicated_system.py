r"""The replicated system, drawn: which replicas share what.

All :math:`n_1 n_2` replicas share the data D. The replicas :math:`\theta_{a 1}, \ldots,
\theta_{a n_2}` of one box also share one draw :math:`D^*_a` of the algorithm's randomness (a
bootstrap sample, or a knockoff copy): averages over the randomness at fixed data need several
boxes, and in the end both numbers of replicas go to zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selica._core.table import Table
from selica.experiments.figures.figure import FigureRun, Finding
from selica.plots.canvas import canvas
from selica.plots.schematic import arrow, box, dot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "The replicated system"

_BOXES = ("box 1", "box 2", "box n_1")
_REPLICAS = ("replica 1", "replica 2", "replica n_2")


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Return the replicas: the box of each, and its overlap with the first of the first box."""
    rows = []
    for a in _BOXES:
        for b in _REPLICAS:
            first = (a, b) == (_BOXES[0], _REPLICAS[0])
            overlap = "with itself" if first else "q + v" if a == _BOXES[0] else "q"
            rows.append({"box": a, "replica": b, "overlap_with_first": overlap})
    return Table.of(rows)


def findings(table: Table) -> list[Finding]:
    """Return what the drawing says in words."""
    overlaps = table.where(box=_BOXES[1:]).unique("overlap_with_first")
    inside = table.where(box=_BOXES[0], replica=_REPLICAS[1]).unique("overlap_with_first")
    return [
        Finding(
            f"replicas overlap by {inside[0]} within a box and by {overlaps[0]} between boxes: v "
            "is the spread over the algorithm's randomness, q what the data fix"
        )
    ]


def draw(table: Table) -> Figure:
    """Draw data, draws of the randomness, and replicas."""
    figure, ((axes,),) = canvas(size=(7.4, 3.6))
    axes.set(xlim=(0.0, 10.7), ylim=(0.0, 5.1), aspect="equal")
    axes.axis("off")
    for shift in (0.24, 0.12):  # further data sets behind
        box(axes, (0.1 + shift, 0.1 + shift), (10.1, 4.6), colour="0.75", fill="white", width=0.8)
    box(axes, (0.1, 0.1), (10.1, 4.6), colour="0.25", fill="white", width=1.4)
    axes.text(0.35, 4.38, "data $D$: shared by all replicas", fontsize=9.5, va="center")
    axes.text(9.95, 4.38, "average over $D$", fontsize=8, va="center", ha="right", color="0.35")
    colours = ("#0072B2", "#D55E00", "#009E73")
    width, left = 2.75, (0.4, 3.5, 7.15)
    for name, colour, x in zip(table.unique("box"), colours, left, strict=True):
        middle = x + width / 2
        a = name.removeprefix("box ")
        box(axes, (x, 0.85), (width, 2.75), colour=colour, fill="#f6f8fa")
        label = f"randomness $D^*_{{{a}}}$"
        axes.text(middle, 3.3, label, ha="center", va="center", fontsize=9, color=colour)
        inside = table.where(box=name).unique("replica")
        for replica, dx in zip(inside, (0.42, 1.17, 2.3), strict=True):
            b = replica.removeprefix("replica ")
            dot(axes, (x + dx, 2.45), rf"$\theta_{{{a}{b}}}$", colour)
        axes.text(x + 1.74, 2.43, "···", ha="center", va="center", fontsize=10)
        cost = rf"$\prod_b\, e^{{-\beta\,\mathcal{{L}}(\theta_{{{a}b}};\,D,\,D^*_{{{a}}})}}$"
        axes.text(middle, 1.65, cost, ha="center", va="center", fontsize=9)
        axes.text(middle, 1.1, "overlap $q+v$", ha="center", va="center", fontsize=8, color="0.35")
    axes.text(6.7, 2.4, "···", ha="center", va="center", fontsize=14)
    for start, end in (((3.98, 0.5), (1.78, 0.78)), ((6.27, 0.5), (8.5, 0.78))):
        arrow(axes, start, end)
    axes.text(5.12, 0.45, "overlap $q$ between boxes", ha="center", va="center", fontsize=8,
              color="0.35")  # fmt: skip
    axes.text(9.95, 0.38, "$n_1, n_2 \\to 0$", ha="right", va="center", fontsize=8, color="0.35")
    return figure
