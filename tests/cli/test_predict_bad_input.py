"""`selica predict`: one clear line for everything that is wrong."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from selica._core.errors import ArgumentError
from selica.cli import app
from tests.cli.commands import assert_one_line, call_main, run
from tests.cli.test_predict import STUDY

SIZE, SIGNALS, NOISE = ["-n", "400", "-p", "500"], ["-k", "100"], ["--r2", "0.9"]
BAD = {
    # arguments after `predict`, a word of the message
    "nothing": ([], "--n-samples"),
    "no size": ([*SIGNALS, *NOISE], "--alpha"),
    "no features": (["-n", "400", *SIGNALS, *NOISE], "--n-features"),
    "no signals": ([*SIZE, *NOISE], "--rho"),
    "two sizes": ([*STUDY, "--alpha", "0.8"], "--alpha"),
    "two shares": ([*STUDY, "--rho", "0.2"], "--rho"),
    "no noise": ([*SIZE, *SIGNALS], "--snr"),
    "two noises": ([*STUDY, "--snr", "9"], "--snr"),
    "effects of no size": ([*SIZE, *SIGNALS, "--effect-size", "-1"], "--effect-size must"),
    "effects without variables": (
        ["--alpha", "1", "--rho", "0.2", "--effect-size", "1"],
        "--effect-size must go with the number of variables",
    ),
    "three noises": ([*STUDY, "--snr", "9", "--delta", "1"], "--delta"),
    "negative n": (["-n", "-4", "-p", "500", *SIGNALS, *NOISE], "-n must"),
    "zero n": (["-n", "0", "-p", "500", *SIGNALS, *NOISE], "-n must"),
    "zero p": (["-n", "10", "-p", "0", *SIGNALS, *NOISE], "-p must"),
    "negative k": ([*SIZE, "-k", "-1", *NOISE], "-k must"),
    "more signals than features": ([*SIZE, "-k", "501", *NOISE], "-k must be at most -p"),
    "zero alpha": (["--alpha", "0", "--rho", "0.2", *NOISE], "alpha"),
    "rho above one": (["--alpha", "1", "--rho", "1.2", *NOISE], "rho"),
    "negative rho": (["--alpha", "1", "--rho", "-0.2", *NOISE], "rho"),
    "r2 zero": (["--alpha", "1", "--rho", "0.2", "--r2", "0"], "r2"),
    "r2 above one": (["--alpha", "1", "--rho", "0.2", "--r2", "1.1"], "r2"),
    "snr zero": (["--alpha", "1", "--rho", "0.2", "--snr", "0"], "snr"),
    "negative delta": (["--alpha", "1", "--rho", "0.2", "--delta", "-1"], "Delta"),
    "fdr above one": ([*STUDY, "--fdr", "2"], "fdr"),
    "negative fdr": ([*STUDY, "--fdr", "-0.1"], "fdr"),
    "nan n": (["-n", "nan", "-p", "500", *SIGNALS, *NOISE], "-n must"),
    "nan alpha": (["--alpha", "nan", "--rho", "0.2", *NOISE], "alpha"),
    "nan rho": (["--alpha", "1", "--rho", "nan", *NOISE], "rho"),
    "nan r2": (["--alpha", "1", "--rho", "0.2", "--r2", "nan"], "r2"),
    "infinite delta": (["--alpha", "1", "--rho", "0.2", "--delta", "inf"], "Delta"),
    "nan fdr": ([*STUDY, "--fdr", "nan"], "fdr"),
    "nan rate": ([*STUDY, "--mu-b", "nan"], "--mu-b must"),
    "zero rate": ([*STUDY, "--mu-b", "0"], "--mu-b must"),
    "zero among rates": ([*STUDY, "--mu-b", "1", "--mu-b", "0", "--lam", "0.2"], "--mu-b must"),
    "negative rate": ([*STUDY, "--mu-b", "-1"], "--mu-b must"),
    "more than all rows": ([*STUDY, "--resampling", "bernoulli", "--mu-b", "2"], "--mu-b"),
    "penalty in words": ([*STUDY, "--lam", "large"], "--lam"),
    "penalty empty": ([*STUDY, "--lam", ""], "--lam"),
    "penalty zero": ([*STUDY, "--lam", "0"], "lam"),
    "penalty negative": ([*STUDY, "--lam", "-1"], "lam"),
    "penalty nan": ([*STUDY, "--lam", "nan"], "lam"),
    "penalty infinite": ([*STUDY, "--lam", "inf"], "lam"),
    "text for a number": (["-n", "many", "-p", "500", *SIGNALS, *NOISE], "--n-samples"),
    "text for a rate": ([*STUDY, "--mu-b", "one"], "--mu-b"),
    "unknown resampling": ([*STUDY, "--resampling", "jackknife"], "--resampling"),
    "unknown effects": ([*STUDY, "--effects", "cauchy"], "--effects"),
    "other signals than effects": ([*STUDY, "--effects", "1,2"], "-k must be 2"),
    "r2 in per cent": ([*SIZE, *SIGNALS, "--r2", "95"], "did you mean 0.95?"),
    "unknown option": ([*STUDY, "--colour", "red"], "--colour"),
    "option without value": ([*STUDY, "--fdr"], "--fdr"),
    "extra word": ([*STUDY, "please"], "please"),
    "unwritable figure": ([*STUDY, "--lam", "0.2", "--plot", "/no/such/place/power.png"], "--plot"),
    "unknown figure": ([*STUDY, "--lam", "0.2", "--plot", "/no/such/place/power.xyz"], "--plot"),
}


@pytest.mark.parametrize(("args", "word"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_and_code_two(args, word, monkeypatch, capsys):
    code = call_main(monkeypatch, "predict", *args)
    assert_one_line(code, capsys.readouterr().err, word)


def test_an_unknown_command_is_one_line_and_code_two(monkeypatch, capsys):
    code = call_main(monkeypatch, "foretell")
    assert_one_line(code, capsys.readouterr().err, "foretell")


@pytest.mark.parametrize(
    "name", ["r2 zero", "text for a number", "unknown option", "unknown figure"]
)
def test_bad_input_of_the_installed_command(name):
    args, word = BAD[name]
    done = run("predict", *args)
    assert_one_line(done.returncode, done.stderr, word)
    if name != "unknown figure":  # the table is there before the figure is tried
        assert done.stdout == ""


def test_an_argument_error_reaches_the_caller_of_the_app():
    result = CliRunner().invoke(app, ["predict", *STUDY, "--fdr", "2"])
    assert isinstance(result.exception, ArgumentError)
    assert result.stdout == ""
