"""`selica plan`: one clear line for everything that is wrong."""

from __future__ import annotations

import pytest

from selica._core.errors import ArgumentError
from tests.cli.commands import assert_refused
from tests.cli.plans import SIZES, STUDY, plan

T = ["table", "t.csv", "-k", "1", "--r2", "0.5"]
D = ["diagnose", "t.csv", "--target", "y"]
BAD = {
    # arguments after `plan`, words of the message
    "unknown question": (["when"], "when"),
    "no samples": (["compare", *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "no signals": (["compare", *SIZES[:4], "--r2", "0.9"], "--n-signals"),
    "no strength": (["compare", *SIZES], "--hazard-ratios; got none"),
    "two strengths": (["compare", *STUDY, "--effect-size", "1"], "got --r2 and --effect-size"),
    "strength of an effect": (["effect", *STUDY], "--r2"),
    "signals of signals": (["signals", *STUDY], "-k"),
    "samples of samples": (["samples", *STUDY], "-n"),
    "level of a level": (["fdr", *STUDY, "--fdr", "0.1"], "--fdr"),
    "nan samples": (["compare", "-n", "nan", *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "half a sample": (["compare", "-n", "1.5", *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "samples without end": (["compare", "-n", "9" * 320, *SIZES[2:], "--r2", "0.9"], "--n-samples"),
    "variables without end": (["effect", "-n", "9", "-p", "9" * 320, "-k", "1"], "--n-features"),
    "no samples at all": (["compare", "-n", "0", *SIZES[2:], "--r2", "0.9"], "-n must"),
    "negative samples": (["fdr", "-n", "-5", *SIZES[2:], "--r2", "0.9"], "-n must"),
    "negative variables": (["samples", "-p", "-5", "-k", "1", "--r2", "0.9"], "-p must"),
    "negative signals": (["effect", *SIZES[:4], "-k", "-1"], "-k must"),
    "nan r2": (["compare", *SIZES, "--r2", "nan"], "r2"),
    "r2 of one": (["signals", *SIZES[:4], "--r2", "1"], "r2"),
    "r2 of two": (["compare", *SIZES, "--r2", "2"], "r2"),
    "negative snr": (["compare", *SIZES, "--snr", "-1"], "snr"),
    "infinite effect": (["compare", *SIZES, "--effect-size", "inf"], "--effect-size must"),
    "power zero": (["samples", *STUDY[2:], "--power", "0"], "power must be between"),
    "power one": (["effect", *SIZES, "--power", "1"], "power must be between"),
    "power two": (["fdr", *STUDY, "--power", "2"], "power must be between"),
    "power nan": (["signals", *SIZES[:4], "--r2", "0.5", "--power", "nan"], "power must be finite"),
    "power in words": (["samples", *STUDY[2:], "--power", "high"], "--power"),
    "fdr of two": (["compare", *STUDY, "--fdr", "2"], "fdr must be between"),
    "fdr zero": (["samples", *STUDY[2:], "--fdr", "0"], "fdr must be between"),
    "fdr nan": (["effect", *SIZES, "--fdr", "nan"], "fdr"),
    "unknown method": (["compare", *STUDY, "--method", "magic"], "--method"),
    "unknown law": (["compare", *STUDY, "--effects", "cauchy"], "--effects must be gaussian, "),
    "no effects": (["compare", *STUDY, "--effects", ""], "--effects must be gaussian, "),
    "effects of zero": (["samples", *STUDY[2:], "--effects", "1,0"], "effects must be 60 numbers"),
    "infinite effects": (["effect", *SIZES, "--effects", "1,inf"], "--effects must be numbers"),
    "power in per cent": (["samples", *STUDY[2:], "--power", "80"], "got 80 (did you mean 0.8?)"),
    "unknown settings": (["samples", *STUDY[2:], "--settings", "worst"], "--settings"),
    "no samples allowed": (["samples", *STUDY[2:], "--at-most", "0"], "--at-most must"),
    "unknown figure": (["compare", *STUDY, "--plot", "plan.xyz"], "--plot"),
    "no folder": (["samples", *STUDY[2:], "--plot", "/no/such/place/plan.png"], "--plot"),
    "no table": (["table", "-k", "1", "--r2", "0.5"], "Name the TABLE"),
    "missing table": (["table", "none.csv", *T[2:]], "none.csv: No such file"),
    "text in the table": (["table", "text.csv", *T[2:]], "--drop 'a'"),
    "gaps in the table": (["table", "gaps.csv", *T[2:]], "missing"),
    "unknown target": ([*T, "--target", "z"], "target: there is no column 'z'"),
    "unknown drop": ([*T, "--drop", "z"], "drop: there is no column 'z'"),
    "nothing left": ([*T, "--drop", "a", "--drop", "b", "--target", "y"], "no variables"),
    "too many planted": ([*T, "-k", "4"], "-k must"),
    "no planted": ([*T, "-k", "0"], "-k must"),
    "table without strength": (T[:4], "--snr, --effect-size; got none"),
    "one data set": ([*T, "--n-sets", "1"], "--n-sets must"),
    "no jobs": ([*T, "--n-jobs", "0"], "--n-jobs"),
    "demo and table": ([*T, "--demo"], "--demo"),
    "demo and target": (["table", "--demo", "--target", "y", *T[2:]], "--demo"),
    "diagnosis of nothing": (["diagnose"], "Name the TABLE"),
    "diagnosis without target": (D[:2], "--target"),
    "diagnosis of a missing table": (["diagnose", "none.csv", *D[2:]], "none.csv: No such file"),
    "diagnosis of another target": ([*D[:2], "--target", "z"], "target: there is no column 'z'"),
    "diagnosis of classes": (["diagnose", "classes.csv", *D[2:]], "target 'y': A diagnosis needs"),
    "diagnosis of zeros and ones": (["diagnose", "zeros.csv", *D[2:]], "two classes"),
    "no prediction": ([*D, "--method", "bolasso"], "--method bolasso has no prediction"),
    "option of another": ([*D, "--method", "knockoffs", "--engine", "auto"], "--engine does not"),
    "diagnosis at power two": (
        [*D, "--method", "knockoffs", "--lam", "0.1", "--power", "2"],
        "power",
    ),
    "diagnosis at fdr two": ([*D, "--fdr", "2"], "fdr"),
}  # fmt: skip
BAD |= {
    "effects in words": (
        ["compare", *STUDY, "--effects", "1,many"],
        "--effects must be numbers; got 'many'",
    ),
    "effects that are none": (
        ["samples", *STUDY[2:], "--effects", "0,0"],
        "--effects must not all be zero",
    ),
    "effects beside signals": (
        ["fdr", *STUDY, "--effects", "1,2"],
        "-k must be 2, the number of effects given, or be left out; got 12",
    ),
    "a file of words": (
        ["compare", *STUDY, "--effects", "words.txt"],
        "--effects words.txt: effects must be numbers; got 'beta'",
    ),
    "an empty file": (
        ["compare", *STUDY, "--effects", "empty.txt"],
        "--effects empty.txt: effects must not be empty",
    ),
    "a file of bytes": (
        ["compare", *STUDY, "--effects", "bytes.txt"],
        "--effects bytes.txt: the file is not UTF-8",
    ),
    "no such file of effects": (
        ["compare", *STUDY, "--effects", "none.txt"],
        "or a file with one number per line; got 'none.txt'",
    ),
    "r2 in per cent": (
        ["compare", *SIZES, "--r2", "95"],
        "--r2 must be between 1e-09 and 0.999999; got 95 (did you mean 0.95?)",
    ),
    "fdr in per cent": (
        ["compare", *STUDY, "--fdr", "10"],
        "--fdr must be between 0.001 and 0.5; got 10 (did you mean 0.1?)",
    ),
    "too many signals": (
        ["compare", *SIZES[:4], "-k", "61", "--r2", "0.9"],
        "-k must be at most -p = 60",
    ),
}

C, BINARY = ["compare", *SIZES], ["--response", "binary"]
BAD |= {
    # what a study is like
    "smallest below zero": ([*C, "--smallest", "-0.3"], "--smallest must be between"),
    "smallest beside r2": ([*C, "--smallest", "1", "--r2", "0.5"], "got --r2 and --smallest"),
    "sizes and a law": ([*C, "--betas", "0.1", "--effects", "point"], "--effects must be left out"),
    "heritability in per cent": ([*C, "--heritability", "50"], "got 50 (did you mean 0.5?)"),
    "no betas": ([*C, "--betas", ""], "--betas must not be empty"),
    "betas in words": ([*C, "--betas", "0.1,x"], "--betas must be a number, numbers such as"),
    "no such file of betas": ([*C, "--betas", "none.txt"], "per line; got 'none.txt'"),
    "betas in bytes": ([*C, "--betas", "bytes.txt"], "--betas bytes.txt: the file is not UTF-8"),
    "empty file of betas": ([*C, "--betas", "empty.txt"], "--betas must not be empty"),
    "betas of no effect": ([*C, "--betas", "0"], "--betas must not stand for no effect; got 0"),
    "infinite betas": ([*C, "--betas", "inf"], "--betas must be finite; got inf"),
    "betas that explain too much": ([*C, "--betas", "0.9"], "--betas must explain less than all"),
    "other betas than signals": ([*C, "--betas", "0.1,0.2"], "-k must be 2"),
    "odds of nothing": ([*C, *BINARY, "--odds-ratios", "0"], "--odds-ratios must be above 0"),
    "odds below zero": ([*C, *BINARY, "--odds-ratios", "-2"], "above 0; got -2"),
    "odds of one": ([*C, *BINARY, "--odds-ratios", "1"], "--odds-ratios must not stand for no"),
    "odds of a number": ([*C, "--odds-ratios", "2"], "--odds-ratios must go with a binary"),
    "odds of gods": ([*C, *BINARY, "--odds-ratios", "1e9"], "--odds-ratios must stand for weaker"),
    "hazards of nothing": (
        [*C, "--response", "survival", "--hazard-ratios", "0"],
        "--hazard-ratios must be above 0",
    ),
    "rates too large": (
        [*C, "--response", "counts", "--rate-ratios", "50"],
        "--rate-ratios must stand for weaker effects",
    ),
    "unknown response": ([*C, "--response", "ordinal"], "--response must be one of num"),
    "prevalence zero": ([*C, *BINARY, "--prevalence", "0", "--r2", "0.5"], "--prevalence must be"),
    "prevalence in per cent": (
        [*C, *BINARY, "--prevalence", "10", "--r2", "0.5"],
        "got 10 (did you mean 0.1?)",
    ),
    "prevalence in words": ([*C, *BINARY, "--prevalence", "low"], "--prevalence must be a number"),
    "prevalence of a number": (["compare", *STUDY, "--prevalence", "0.1"], "--prevalence belongs"),
    "only cases": ([*C, *BINARY, "--cases", "1", "--r2", "0.5"], "--cases must be between"),
    "no events": (
        [*C, "--response", "survival", "--events", "0", "--r2", "0.5"],
        "--events must be between",
    ),
    "events of counts": (
        [*C, "--response", "counts", "--events", "0.3", "--r2", "0.5"],
        "--events belongs to --response survival; the response is counts",
    ),
    "a rate of zero": (
        [*C, "--response", "counts", "--rate", "0", "--r2", "0.5"],
        "--rate must be between",
    ),
    "p-values of survival": (
        [*C, "--response", "survival", "--r2", "0.5", "--method", "stability-fdr"],
        "'stability-fdr' is not for survival times",
    ),
    "strength of the strength": (["effect", *SIZES, "--betas", "0.1"], "looks for the strength"),
    "correlation of 1.5": (
        ["compare", *STUDY, "--covariance", "ar1:1.5"],
        "--covariance: the correlation must be between -0.99 and 0.99; got 1.5",
    ),
    "correlation of another response": (
        ["samples", *STUDY[2:], "--response", "binary", "--covariance", "ar1:0.5"],
        "there is no theory for a binary response",
    ),
    "half a block": (["compare", *STUDY, "--covariance", "block:0.5:2.5"], "must be an integer"),
    "a block too many": (["compare", *STUDY, "--covariance", "block:0.5:61"], "at most 60; got 61"),
    "a small covariance": (
        ["compare", *STUDY, "--covariance", "small.csv"],
        "--covariance must have 60 rows and columns, one for each variable; got 2 x 2",
    ),
    "a file of no covariance": (
        ["compare", *STUDY, "--covariance", "empty.txt"],
        "--covariance empty.txt: the file must have one row of numbers",
    ),
    "a covariance in bytes": (
        ["compare", *STUDY, "--covariance", "bytes.txt"],
        "--covariance bytes.txt: the file must have one row of numbers",
    ),
    "a protocol of nothing": (
        ["samples", *STUDY[2:], "--at-most", "5", "--protocol", "--method", "stability-pfer"],
        "protocol: no number of samples that was tried reaches the power",
    ),
}
BAD |= {
    f"covariance {form}": (
        ["compare", *STUDY, "--covariance", form],
        "--covariance must be ar1:0.5, block:0.5:10, equicorrelated:0.5 or a CSV file",
    )
    for form in ("", "ar1", "ar1:high", "ar1:nan", "block:0.5", "none.csv", "toeplitz:0.5")
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_code_2(case, tmp_path, monkeypatch, capsys):
    args, named = BAD[case]
    rows = [(i * i % 7, i % 5, i) for i in range(20)]
    numbers = "".join(f"{a},{b},{y}\n" for a, b, y in rows)
    (tmp_path / "t.csv").write_text("a,b,y\n" + numbers)
    (tmp_path / "words.txt").write_text("beta\n0.5\n")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "small.csv").write_text("1,0.5\n0.5,1\n")
    (tmp_path / "bytes.txt").write_bytes(bytes(range(128, 256)))
    (tmp_path / "text.csv").write_text("a,y\nu,1\nv,2\n")
    (tmp_path / "gaps.csv").write_text("a,b,y\n1,,3\n" + numbers)
    for file, values in (("classes", ("no", "yes")), ("zeros", (0, 1))):
        lines = "".join(f"{a},{b},{values[y % 2]}\n" for a, b, y in rows)
        (tmp_path / f"{file}.csv").write_text("a,b,y\n" + lines)
    monkeypatch.chdir(tmp_path)
    assert_refused(monkeypatch, capsys, ["plan", *args], named)


def test_an_argument_error_reaches_the_caller_of_the_app():
    with pytest.raises(ArgumentError, match="power"):
        plan("samples", *STUDY[2:], "--power", "2")
