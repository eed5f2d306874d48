"""Packages that selica brings with it: do they fit, are they whole, and what is known against them?

    python -m benchmarks.dependencies

Files are compared with the hashes that their wheels record. Known weaknesses are asked for with
pip-audit (`pip install pip-audit`), whose list is not reached everywhere: packages that could not
be looked up are counted, and are not called sound. A version that is not the newest is named.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

EXTRAS = ("plots", "data", "excel", "genotypes", "arrays", "app", "cluster")
"""What a user can ask for; tools of the tests are not among it."""


def brought(extras: tuple[str, ...] = EXTRAS) -> list[str]:
    """Return the packages that an installation of selica has, selica itself left out."""
    found: dict[str, None] = {}
    waiting = [("selica", set(extras))]
    while waiting:
        name, wanted = waiting.pop()
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            found.pop(name, None)  # not for this machine
            continue
        for need in needs:
            other = re.split(r"[^\w.-]", need)[0].lower()
            extra = re.search(r"extra == ['\"](\w+)['\"]", need)
            if (extra is None or extra[1] in wanted) and other not in found and other != "selica":
                found[other] = None
                asked = re.search(r"\[([\w, -]+)\]", need)
                waiting.append((other, {*re.split(r"[, ]+", asked[1])} if asked else set()))
    return sorted(found)


def changed(name: str) -> tuple[int, list[str]]:
    """Return how many files of a package have a recorded hash, and those that differ from it."""
    wrong, count = [], 0
    for file in distribution(name).files or ():
        if file.hash is None or file.hash.mode != "sha256":
            continue
        count += 1
        try:
            digest = hashlib.sha256(file.locate().read_bytes()).digest()
        except OSError:
            wrong.append(str(file))
            continue
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            wrong.append(str(file))
    return count, wrong


def pip(*words: str) -> str:
    """Return what pip prints; an error if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, "--disable-pip-version-check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr).strip().splitlines()[-1])
    return done.stdout


def known_weaknesses(names: list[str]) -> tuple[int, list[str]]:
    """Return how many packages could be looked up, and what is known against them."""
    if find_spec("pip_audit") is None:
        return 0, []
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", "-f", "json", "--progress-spinner", "off"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = json.loads(done.stdout)["dependencies"] if done.stdout else []
    rows = [row for row in rows if row["name"].lower() in names and "vulns" in row]
    return len(rows), [f"{row['name']} {one['id']}" for row in rows for one in row["vulns"]]


def run() -> str:
    """Return what was found; an error if something does not fit or is known to be weak."""
    names = brought()
    pip("check")
    counts, wrong = 0, list[str]()
    for name in names:
        count, differing = changed(name)
        counts += count
        wrong += differing
    if wrong:
        raise RuntimeError(f"{len(wrong)} files are not those of their wheels, such as {wrong[0]}")
    listed = json.loads(pip("list", "--outdated", "--format", "json"))
    behind = [
        f"{one['name']} {one['version']} < {one['latest_version']}"
        for one in listed
        if one["name"].lower() in names
    ]
    looked_up, weak = known_weaknesses(names)
    if weak:
        raise RuntimeError(f"known weaknesses: {', '.join(weak)}")
    known = (
        f"nothing is known against {looked_up} of them"
        if looked_up
        else ("the list of known weaknesses was not reached")
    )
    newest = f"all but {len(behind)} the newest ({', '.join(behind)})" if behind else "all newest"
    return (
        f"{len(names)} packages, no conflict, {newest}; {counts:,} files as their wheels record "
        f"them; {known}"
    )


if __name__ == "__main__":
    print(run())
