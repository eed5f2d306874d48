"""Let one peer select on many problems: `... -m benchmarks.peers.selecting_peer PEER FOLDER ...`.

Run by `benchmarks.peers.selecting` with the Python of the peer's environment. Every problem is
answered by a fork of this process, which has imported the peer and compiled what it compiles; so a
problem's answer does not depend on those before it, and one that uses up its processor seconds
ends alone.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from .exchange import put
from .selecting import TOO_SLOW, Problem, Question, read_problems
from .selection_adapters import ADAPTERS

PATIENCE = 20  # wall seconds for each processor second, before a problem is given up
WARM_UP = (60, 6)  # rows and columns of the problem that is answered before the clock starts


def warm_up(peer: str, question: Question, like: Problem) -> None:
    """Import and compile: answer a small problem of the same response, whatever comes of it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(WARM_UP)
    y = X[:, 0] + rng.standard_normal(len(X))
    if like.response == "binary":
        y = (y > 0).astype(np.float64)
    elif like.response == "count":
        y = rng.poisson(np.exp(y / 2)).astype(np.float64)
    elif like.response == "survival":
        y = np.column_stack([np.exp(-y), rng.random(len(X)) < 0.7])
    try:
        ADAPTERS[peer](replace(like, X=X, y=y), question)
    except Exception as error:
        print(f"{peer} cannot answer the small problem: {error!r}", file=sys.stderr)


def answer(peer: str, folder: Path, number: int, problem: Problem, question: Question) -> None:
    """Select, and write what was selected and the processor seconds of it; or what went wrong."""
    random.seed(problem.seed)
    np.random.seed(problem.seed % 2**32)  # noqa: NPY002  # peers that draw from it know no other
    start = time.process_time()
    try:
        mask = np.asarray(ADAPTERS[peer](problem, question), dtype=bool)
    except Exception as error:
        words = str(error).strip().split("\n")[0]
        (folder / f"{number}.error").write_text(f"{type(error).__name__}: {words}")
    else:
        seconds = time.process_time() - start
        put(folder, number, "seconds", [seconds])
        put(folder, number, "selected", mask)


def fork(peer: str, folder: Path, number: int, problem: Problem, question: Question) -> None:
    """Answer in a process of its own, with a limit on its processor seconds."""
    child = os.fork()
    if child == 0:
        limit = int(np.ceil(question.limit))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.alarm(PATIENCE * limit)
        answer(peer, folder, number, problem, question)
        sys.stderr.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM)
        words = TOO_SLOW if late else f"ended by signal {os.WTERMSIG(status)}"
        (folder / f"{number}.error").write_text(words)


def main() -> None:
    """Answer all problems of the folder."""
    peer, folder = sys.argv[1], Path(sys.argv[2])
    question = Question(sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
    warnings.filterwarnings("ignore")
    problems = read_problems(folder)
    for response in dict.fromkeys(problem.response for problem in problems):
        warm_up(peer, question, next(p for p in problems if p.response == response))
    for number, problem in enumerate(problems):
        fork(peer, folder, number, problem, question)


if __name__ == "__main__":
    main()
