"""Finished parts of a long selection in a folder: a run that was killed goes on where it was.

Work asks `shelf_of` where its parts are kept, and knows nobody who keeps them. Whoever wants them
kept opens `keeping` around a call. A part is a file of its own, whole or not at all, and its name
holds a digest of everything that it depends on: data, settings, seed and code. So parts of another
run are never taken, and a file that is damaged is computed again.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.compiled import core
from selica._core.errors import ArgumentError
from selica._core.file_arrays import in_file
from selica._core.files import as_path, write_whole
from selica._core.progress import was_stopped
from selica._version import __version__

_KEEPER: ContextVar[Keeper | None] = ContextVar("keeper", default=None)
"""Where parts are kept."""
_SEEDS = "seeds.json"
"""File of the entropy that was drawn where no seed was given."""
_PART = re.compile(r"\.?[a-z-]+-[0-9a-f]{20}-\d+-\d+(\.part)?\.npz")
"""Names of the files of parts, also of those that a kill cut short."""
_ENDS = 1 << 16
"""Bytes at the beginning and at the end of a file that are read for its digest."""
_BLOCK = 1 << 24
"""Bytes of an array that are read at once."""
_DAMAGE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged file raises."""
Parts = dict[str, Any]
"""Arrays of a part by name."""


class Keeper:
    """Parts of a run in a folder.

    Attributes
    ----------
    said : list of str
        What was found there, or why nothing was taken, in sentences.
    """

    def __init__(self, folder: Path, tell: Callable[[str], object] | None) -> None:
        self.folder, self._tell = folder, tell
        self.said: list[str] = []
        self._before = {path: _about(path) for path in sorted(folder.glob("*.npz"))}
        self._used: set[Path] = set()
        self._drawn = 0
        self._broken = False

    def say(self, sentence: str) -> None:
        """Tell whoever opened the folder."""
        self.said.append(sentence)
        if self._tell is not None:
            self._tell(sentence)

    def entropy(self) -> int:
        """Return fresh entropy, or that of the run before where this was asked for as often."""
        path = self.folder / _SEEDS
        known: list[int] = []
        with suppress(OSError, ValueError):
            known = [int(word) for word in json.loads(path.read_text("utf-8"))]
        if self._drawn == len(known):
            drawn = np.random.SeedSequence().entropy
            assert isinstance(drawn, int)
            known.append(drawn)
            self.write(path, lambda part: part.write_text(json.dumps(list(map(str, known)))))
        self._drawn += 1
        return known[self._drawn - 1]

    def write(self, path: Path, content: Callable[[Path], Any]) -> None:
        """Write a file; where that fails, say so once and go on without."""
        if self._broken:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole({path: content})
        except OSError as error:
            self._broken = True
            self.say(f"Finished parts are not kept: {self.folder}: {error.strerror or error}.")

    def clear(self) -> None:
        """Remove the files of parts and seeds, and the folder where nothing else is in it."""
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.name == _SEEDS or _PART.fullmatch(path.name):
                    path.unlink(missing_ok=True)
            self.folder.rmdir()

    def read(self, path: Path, about: Mapping[str, str]) -> Parts | None:
        """Return the arrays of a part; None where it is not there as a whole."""
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
            if json.loads(str(found.pop("about"))) != about:
                return None
        except _DAMAGE:
            return None
        self._used.add(path)
        return found

    def differences(self, kind: str, about: Mapping[str, str]) -> str:
        """Return in which respects parts of a run before are those of another run, in words."""
        others = [
            known
            for path, known in self._before.items()
            if known is not None and known.get("kind") == kind and path not in self._used
        ]
        if not others:
            return ""
        nearest = max(others, key=lambda known: sum(known[name] == about[name] for name in _WORDS))
        return " and ".join(_WORDS[name] for name in _WORDS if nearest[name] != about[name])


_WORDS = {"data": "other data", "settings": "other settings", "seed": "another seed",
          "code": "another version of the package"}  # fmt: skip
"""What a part depends on, in words for where it differs."""


class Shelf:
    """Parts of one piece of work.

    Parameters
    ----------
    keeper : Keeper
    kind : str
        What is counted, e.g. "resamples".
    about : mapping
        Digests of what the parts depend on.
    """

    def __init__(self, keeper: Keeper, kind: str, about: Mapping[str, str]) -> None:
        self._keeper, self._kind = keeper, kind
        self._about = {"kind": kind, **about}
        self._key = hashlib.sha256(json.dumps(self._about).encode()).hexdigest()[:20]
        self._found = 0
        self._asked = False

    def _path(self, start: int, stop: int) -> Path:
        name = self._kind.replace(" ", "-")
        return self._keeper.folder / f"{name}-{self._key}-{start}-{stop}.npz"

    def find(self, start: int, stop: int) -> Parts | None:
        """Return the arrays of a part, from one member up to another; None if it is not there."""
        found = self._keeper.read(self._path(start, stop), self._about)
        if found is not None:
            self._found += stop - start
        elif not self._asked and self._found == 0:
            other = self._keeper.differences(self._kind, self._about)
            if other:
                self._keeper.say(
                    f"{self._keeper.folder} has {self._kind} of a run with {other}: they are not "
                    "used."
                )
        self._asked = True
        return found

    def tell(self, total: int) -> None:
        """Say how many of so many members were there, once."""
        if self._found:
            self._keeper.say(f"{self._found:,} of {total:,} {self._kind} were there.")
            self._found = 0

    def add(self, start: int, stop: int, arrays: Parts) -> None:
        """Keep a part."""
        about = json.dumps(self._about)

        def write(path: Path) -> None:
            with path.open("wb") as file:
                np.savez_compressed(file, about=np.array(about), **arrays)

        self._keeper.write(self._path(start, stop), write)


@contextmanager
def keeping(
    folder: Path | str, *, stay: bool = False, tell: Callable[[str], object] | None = None
) -> Iterator[Keeper]:
    """Keep finished resamples and knockoff copies of the selectors fitted inside, in a folder.

    A run that is killed, or that ends with an error, leaves them there: the same call takes them
    and goes on, with the answer that an uninterrupted run has. Where data, settings, seed or code
    are others, nothing is taken. At the end these files are removed.

    Parameters
    ----------
    folder : path
        For these files alone; made when the first part is finished.
    stay : bool
        Whether the files stay at the end.
    tell : callable, optional
        Called with a sentence where parts were there, or were those of another run.

    Notes
    -----
    Where ``random_state`` is None, the seed that was drawn is kept as well. Other work, such as the
    fit of a sampler of copies, is done again.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica import StabilitySelection
    >>> from selica.progress import keeping
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> selector = StabilitySelection(n_resamples=40, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         with keeping(Path(folder, "parts"), stay=True) as kept:
    ...             _ = selector.fit(data.X, data.y)
    ...     kept.said
    ['40 of 40 resamples were there.']
    """
    place = as_path("folder", folder)
    if place.exists() and not place.is_dir():
        raise ArgumentError(f"folder must be a folder; {place} is a file.")
    keeper = Keeper(place, tell)
    token = _KEEPER.set(keeper)
    try:
        yield keeper
    finally:
        _KEEPER.reset(token)
    if not stay and not was_stopped():
        keeper.clear()


def shelf_of(
    kind: str, data: Any, settings: Any, seeds: tuple[np.random.SeedSequence, ...]
) -> Shelf | None:
    """Return where parts of a piece of work are kept; None where nobody keeps them.

    Parameters
    ----------
    kind : str
        What is counted.
    data, settings
        All that the parts depend on but seeds and code. What cannot be told apart by its content,
        such as a function defined in a session, is not kept.
    seeds : tuple of SeedSequence
    """
    keeper = _KEEPER.get()
    if keeper is None:
        return None
    try:
        about = {"data": content_digest(data), "settings": content_digest(settings)}
    except Exception:
        keeper.say(f"The {kind} are not kept: a part of the settings cannot be written to a file.")
        return None
    words = [(str(seed.entropy), seed.spawn_key, seed.pool_size) for seed in seeds]
    about |= {"seed": hashlib.sha256(repr(words).encode()).hexdigest(), "code": _code()}
    return Shelf(keeper, kind, about)


def kept_entropy() -> int | None:
    """Return entropy for a seed that nobody gave; None where nobody keeps parts."""
    keeper = _KEEPER.get()
    return None if keeper is None else keeper.entropy()


def content_digest(value: Any) -> str:
    """Return a digest of arrays, of objects with arrays in them, or of whatever can be pickled.

    For an array that is mapped from a file, of the size, the time of change, the beginning and the
    end of the file, so that no table is read for it.

    Parameters
    ----------
    value : object
        Tuples, lists, dictionaries and dataclasses are looked into.
    """
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Add a value to a digest."""
    digest.update(type(value).__qualname__.encode())
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        _feed_array(digest, value)
    elif isinstance(value, tuple | list):
        digest.update(str(len(value)).encode())
        for each in value:
            _feed(digest, each)
    elif isinstance(value, dict):
        for key, each in value.items():
            _feed(digest, key)
            _feed(digest, each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            _feed(digest, getattr(value, name))
    elif isinstance(value, np.random.SeedSequence):
        _feed(digest, (str(value.entropy), value.spawn_key, value.pool_size))
    else:
        from joblib import hash as content_hash  # slow to import

        digest.update(str(content_hash(value)).encode())


def _feed_array(digest: Any, array: Any) -> None:
    """Add an array to a digest: what it holds, or the file that it is in."""
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    where = in_file(array)
    if where is None:
        lines = array if array.flags.c_contiguous or array.ndim < 2 else array.T
        lines = lines.reshape(1) if lines.ndim == 0 else lines
        step = max(1, _BLOCK // max(lines[:1].nbytes, 1))
        for start in range(0, len(lines), step):
            digest.update(np.ascontiguousarray(lines[start : start + step]).data)
        return
    digest.update(f"{where.offset}{where.strides}{where.size}{where.changed}".encode())
    with open(where.path, "rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(where.size - _ENDS, 0))
        digest.update(file.read(_ENDS))


@lru_cache(maxsize=1)
def _code() -> str:
    """Return a digest of the package, with the core: other code, other parts."""
    digest = hashlib.sha256(f"{__version__} {np.__version__}".encode())
    package = Path(__file__).parents[1]
    compiled = getattr(core(), "__file__", None)
    for path in [*sorted(package.rglob("*.py")), *([] if compiled is None else [Path(compiled)])]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _about(path: Path) -> dict[str, str] | None:
    """Return what a part depends on; None where the file is damaged."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = json.loads(str(file["about"]))
            return found if isinstance(found, dict) else None
    except _DAMAGE:
        return None
