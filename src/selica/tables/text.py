"""The text of a file, whatever its encoding: as UTF-8, with a sentence on what it was."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import NoReturn

from selica._core.errors import ArgumentError

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
"""Bytes at the beginning of a file that tell its encoding, and the encoding."""
_FOREIGN = (
    (b"%PDF", "a PDF document"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet of an old kind (.xls)"),
    (b"PK\x03\x04", "an archive or a spreadsheet"),
    (b"RDX", "a file of R"),
    (b"$FL2", "a file of SPSS"),
    (b"<stata_dta>", "a file of Stata"),
    (b"SQLite format 3", "a data base"),
    (b"\x93NUMPY", "an array of NumPy"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"[{", "JSON"),
    (b'{"', "JSON"),
)
"""Beginnings of files that hold no text, and what they are."""
_LOOKED_AT = 4096
"""Bytes that are looked at for an encoding without a mark."""
_PIECE = 1 << 24
"""Bytes that are checked at once."""
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""Bytes that mean nothing in Windows-1252."""
_CONTROLS = bytes({*range(32)} - {9, 10, 11, 12, 13, 26})
"""Bytes that text does not hold."""


def as_utf8(path: Path, content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the text of a file in UTF-8 without a mark, and a note on any other encoding.

    Parameters
    ----------
    path : path
        What messages call the file.
    content : bytes
    """
    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
    for mark, codec, name in _MARKS:
        if content.startswith(mark):
            return _from(path, content, codec, name)
    unmarked = _without_mark(content[:_LOOKED_AT])
    if unmarked is not None:
        return _from(path, content, unmarked, "UTF-16")
    for beginning, what in _FOREIGN:
        if content.startswith(beginning):
            raise ArgumentError(
                f"{path}: this is {what}, which is not read; save the table as a CSV file."
            )
    if 0 in content:
        _refuse(path, content, content.index(0))
    if content.isascii() or _is_utf8(content):
        return content, ()
    if any(byte in content[:_LOOKED_AT] for byte in _CONTROLS):
        _refuse(path, content, 0)
    if any(byte in content for byte in _UNDEFINED):
        return _from(path, content, "latin-1", "Latin-1 (Western European)")
    return _from(path, content, "cp1252", "Windows-1252 (Western European)")


def _from(path: Path, content: bytes, codec: str, name: str) -> tuple[bytes, tuple[str, ...]]:
    try:
        text = content.decode(codec)
    except UnicodeDecodeError as error:
        _refuse(path, content, error.start)
    found = text.encode("utf-8", "replace")
    if 0 in found:
        _refuse(path, found, found.index(0))
    return found, (f"The file is not in UTF-8; it was read as {name}.",)


def _without_mark(start: bytes) -> str | None:
    """Return the encoding of text in units of two bytes, if every other byte is mostly zero."""
    half = len(start) // 2
    if half < 4:
        return None
    even, odd = start[::2].count(0), start[1::2].count(0)
    if odd > 0.8 * half and even < 0.1 * half:
        return "utf-16-le"
    if even > 0.8 * half and odd < 0.1 * half:
        return "utf-16-be"
    return None


def _is_utf8(content: bytes) -> bool:
    """Tell whether bytes are UTF-8, in pieces: the text need not be in memory beside them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(content)
    try:
        for start in range(0, len(content), _PIECE):
            decoder.decode(view[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _refuse(path: Path, content: bytes, place: int) -> NoReturn:
    line = content.count(b"\n", 0, place) + 1
    raise ArgumentError(f"{path}: line {line} is not text; save the table as a CSV file in UTF-8.")
