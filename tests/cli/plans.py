"""A small study, and `selica plan` for it."""

from __future__ import annotations

import shlex

from tests.cli.commands import invoke, parsed

N, P, K, R2 = 150, 60, 12, 0.9
SIZES = ["-n", str(N), "-p", str(P), "-k", str(K)]
STUDY = [*SIZES, "--r2", str(R2)]
FEW = ["--method", "stability-fdr", "--method", "knockoffs"]
ONE = ["--method", "stability-fdr"]


def plan(*args):
    return invoke("plan", *args)


def report(*args):
    return parsed("plan", *args)


def printed_commands(text):
    """Commands among the lines, with those that are continued joined as a shell does."""
    joined = text.replace("\\\n", "").splitlines()
    return [shlex.split(line) for line in joined if line.startswith("  selica ")]


def printed_code(text):
    """The selector, which may take several lines."""
    return text.split("or, in Python,\n")[1].split("\n\n")[0].strip()
