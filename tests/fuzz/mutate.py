"""Damage to files: by their structure (JSON, TOML, XML, lines of text, archives) and byte by byte; the same seed gives
the same damage."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

RAW = "\0raw\0"  # stands for a token that json.dumps would not write
NUMBERS = [
    "0",
    "-1",
    "1",
    "2",
    "1e400",
    "-0.0",
    "1e-400",
    "NaN",
    "-Infinity",
    str(2**31),
    str(2**63),
    str(10**400),
    "1" * 5001,
]
TOKENS = [
    *NUMBERS,
    *("null", "true", "false", '""', "[]", "{}", "[[]]", '[""]', "[null]", "[0]", "[1, 2]", '{"": 0}', '{"a": []}'),
    *('"a"', '"\\u0000"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u2028"', '"a\\nb"', '"../../x"', '"it:er"', '"x\\ty"'),
    *("[" * 3000, "[" * 250 + "]" * 250, '{"a":' * 120 + "1" + "}" * 120, '"' + "x" * 3000 + '"', "{", "]", "'", ""),
]
STRINGS = [
    *(
        "",
        " ",
        "\0",
        "\r",
        "\x1d",
        "\x85",
        "\u2028",
        "\ufeff",
        "\t",
        "\n",
        "é",
        "e\u0301",
        "😀",
        "\u202e",
        "ß",
        "İ",
        "０",
    ),
    *(
        "nan",
        "inf",
        "-1",
        "1e400",
        "0x10",
        "1_000",
        "²",
        "٣",
        "1" * 5001,
        "9" * 19,
        "1.0",
        "-0",
        "+5",
        "1-1",
        "0-0",
        "99-99",
    ),
    *(
        "<d>",
        "<SEP>",
        "|||",
        "<p>",
        "<hon>",
        "_",
        "-",
        "#",
        "# newdoc",
        "../x",
        "/etc/passwd",
        "a" * 300,
        "x" * 3000,
        '"',
        "'",
    ),
    *(
        "%s",
        "{0}",
        "{source}",
        "\\",
        "\\x",
        "null",
        "true",
        "[",
        "]",
        "(",
        ")",
        "*",
        "?",
        "[a-",
        "er",
        "sie",
        "it",
        "=",
    ),
]
TOML = [
    *(
        "1",
        "-1",
        "0",
        "1.5",
        "nan",
        "-inf",
        "1e400",
        "true",
        '"x"',
        '""',
        "[]",
        "{}",
        "[[]]",
        '["a"]',
        "[1]",
        '{a = "b"}',
    ),
    *(
        "1979-05-27",
        "2020-02-31",
        "07:32:00",
        "1979-05-27T07:32:00Z",
        str(2**63),
        str(10**400),
        "1" * 5001,
        "0x10",
        "0o8",
    ),
    *(
        '"\\u0000"',
        '"\\ud800"',
        "'''",
        '"""',
        "[" * 2000,
        "[" * 120 + "]" * 120,
        "{a = " * 200,
        "'a\nb'",
        '"../x"',
        '"' + "x" * 300 + '"',
    ),
]
BYTES = [
    b"\0",
    b"\xff",
    b"\r",
    b"\n",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"\x80",
    b"\xc3",
    b"\xed\xa0\x80",
    b"PK\3\4",
    b"\xff" * 8,
]
Mutator = Callable[[bytes, random.Random], bytes]


def mutate(data: bytes, name: str, rng: random.Random) -> bytes:
    """The content of a file with one to three pieces of damage of the kinds that its name suggests."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = by_bytes if rng.random() < 0.15 else kind_of(name)
        data = change(data, rng)
    return data


def kind_of(name: str) -> Mutator:
    """The mutator for files of this name."""
    path = PurePosixPath(name)
    if path.suffix == ".gz" and not name.endswith((".tar.gz", ".tgz")):
        return lambda data, rng: _gzipped(data, path.stem, rng)
    return KINDS.get(path.suffix, by_lines)


def by_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits flipped, bytes put in, taken out, repeated or cut off."""
    if not data:
        return rng.choice(BYTES)
    position, size = rng.randrange(len(data)), rng.choice((1, 1, 2, 4, 8, 64))
    kind = rng.randrange(7)
    if kind == 0:
        return data[:position] + bytes([data[position] ^ (1 << rng.randrange(8))]) + data[position + 1 :]
    if kind == 1:
        return data[:position] + rng.choice(BYTES) + data[position:]
    if kind == 2:
        return data[:position] + data[position + size :]
    if kind == 3:
        return data[:position]
    if kind == 4:
        other = rng.randrange(len(data))
        return data[:position] + data[other : other + size] + data[position:]
    if kind == 5:
        return data[:position] + rng.randbytes(size) + data[position + size :]
    return data[:position] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) * size + data[position + size :]


def by_lines(data: bytes, rng: random.Random) -> bytes:
    """Lines and fields of a text taken out, repeated, swapped, or replaced by what nobody expects."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    n = rng.randrange(len(lines))
    kind = rng.randrange(8)
    if kind == 0:
        del lines[n]
    elif kind == 1:
        lines.insert(n, lines[n])
    elif kind == 2:
        m = rng.randrange(len(lines))
        lines[n], lines[m] = lines[m], lines[n]
    elif kind == 3:
        lines[n] = rng.choice(STRINGS)
    elif kind == 4:
        position = rng.randint(0, len(lines[n]))
        lines[n] = lines[n][:position] + rng.choice(STRINGS) + lines[n][position:]
    else:
        fields = re.split(r"(\t| |=|,|:|;|-)", lines[n])
        k = rng.randrange(len(fields))
        if kind == 5:
            del fields[k]
        elif kind == 6:
            fields.insert(k, rng.choice((*fields, *STRINGS)))
        else:
            fields[k] = rng.choice(STRINGS)
        lines[n] = "".join(fields)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def by_json(data: bytes, rng: random.Random) -> bytes:
    """A value of a JSON document replaced, taken out, repeated, or moved elsewhere."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return by_lines(data, rng)
    holder = [document]
    places: list[tuple[Any, Any]] = [(holder, 0)]
    for parent, key in places:
        value = parent[key]
        if isinstance(value, dict):
            places += [(value, k) for k in value]
        elif isinstance(value, list):
            places += [(value, k) for k in range(len(value))]
        if len(places) > 5000:
            break
    parent, key = rng.choice(places)
    token = ""
    kind = rng.randrange(9)
    if kind == 0 and parent is not holder:
        del parent[key]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(key, parent[key])
    elif kind == 2:
        other, position = rng.choice(places)
        parent[key] = json.loads(json.dumps(other[position]))
    elif kind == 3 and isinstance(parent, dict):
        parent[rng.choice(STRINGS)] = parent.pop(key)
    elif kind == 4 and isinstance(parent[key], str):
        position = rng.randint(0, len(parent[key]))
        parent[key] = parent[key][:position] + rng.choice(STRINGS) + parent[key][position:]
    elif kind == 5:
        parent[key] = rng.choice(STRINGS)
    else:
        token, parent[key] = rng.choice(TOKENS), RAW
    text = json.dumps(holder[0], ensure_ascii=False, separators=(",", ":") if b'":' in data else None)
    return text.replace(json.dumps(RAW), token).encode("utf-8", "surrogatepass")


def by_json_lines(data: bytes, rng: random.Random) -> bytes:
    """One line of JSON damaged, or the lines as lines."""
    if rng.random() < 0.15:
        return by_lines(data, rng)
    lines = data.split(b"\n")
    n = rng.randrange(len(lines))
    lines[n] = by_json(lines[n], rng).replace(b"\n", b"") if lines[n] else lines[n]
    return b"\n".join(lines)


def by_toml(data: bytes, rng: random.Random) -> bytes:
    """A key or a value replaced, a table renamed or repeated."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    kind = rng.randrange(6)
    keys = [n for n, line in enumerate(lines) if "=" in line]
    tables = [n for n, line in enumerate(lines) if line.startswith("[")]
    if kind <= 2 and keys:
        n = rng.choice(keys)
        name, _, _ = lines[n].partition("=")
        lines[n] = f"{name}= {rng.choice(TOML)}"
    elif kind == 3 and keys:
        n = rng.choice(keys)
        name, _, value = lines[n].partition("=")
        new = rng.choice(
            (f"{name.strip()}x", f"{name.strip()}.a", '""', '"\\u0000"', ".".join("a" * 5000), rng.choice(STRINGS))
        )
        lines[n] = f"{new} ={value}"
    elif kind == 4 and tables:
        n = rng.choice(tables)
        lines[n] = rng.choice(
            ("", "[x]", f"[{lines[n]}]", lines[n] + "\n" + lines[n], "[" + ".".join("a" * 3000) + "]")
        )
    else:
        return by_lines(data, rng)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def by_xml(data: bytes, rng: random.Random) -> bytes:
    """A tag, an attribute or a text taken out, repeated or replaced; declarations and entities put in."""
    text = data.decode("utf-8", "surrogateescape")
    parts = re.split(r"(<[^>]*>)", text)
    n = rng.randrange(len(parts))
    kind = rng.randrange(7)
    if kind == 0:
        del parts[n]
    elif kind == 1:
        parts.insert(n, rng.choice(parts))
    elif kind == 2:
        parts[n] = rng.choice((*STRINGS, "&x;", "<![CDATA[", "<a>" * 1100, "&#0;", "&#xD800;", "<!--", "</s>", "<s>"))
    elif kind == 3:
        parts[n] = re.sub(r'"[^"]*"', lambda _: f'"{rng.choice(STRINGS)}"', parts[n], count=1)
    elif kind == 4:
        parts[n] = re.sub(
            r'\b\w+="', lambda _: f'{rng.choice(("id", "x", "fromDoc", "xtargets"))}="', parts[n], count=1
        )
    elif kind == 5:
        encoding = rng.choice(("utf-16", "latin-1", "klingon", "utf-7", "big5", "ascii", "utf-8"))
        parts.insert(0, f"<?xml version='1.0' encoding='{encoding}'?>")
    else:
        parts.insert(
            0, '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
        )
    return "".join(parts).encode("utf-8", "surrogateescape")


def by_zip(data: bytes, rng: random.Random) -> bytes:
    """A member damaged, renamed or repeated; or the bytes of the archive."""
    if rng.random() < 0.5:
        return by_bytes(data, rng)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except Exception:  # damaged already
        return by_bytes(data, rng)
    if members:
        n = rng.randrange(len(members))
        name, content = members[n]
        members[n] = rng.choice(
            ((name, mutate(content, name, rng)), (rng.choice(STRINGS) + name, content), (name[::-1], content))
        )
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(
            out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
        ) as archive:
            for name, content in members:
                archive.writestr(name, content)
    except Exception:  # a name that cannot be packed
        return by_bytes(data, rng)
    return out.getvalue()


def by_tar(data: bytes, rng: random.Random) -> bytes:
    """The same for tar archives."""
    if rng.random() < 0.4:
        return by_bytes(data, rng)
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = [(info, archive.extractfile(info).read() if info.isfile() else b"") for info in archive]  # type: ignore[union-attr]
        info, content = rng.choice(members)
        kind = rng.randrange(5)
        if kind == 0:
            content = mutate(content, info.name, rng)
            info.size = len(content)
        elif kind == 1:
            info.name = rng.choice(STRINGS) + info.name
        elif kind == 2:
            info.type = rng.choice(
                (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE)
            )
            info.linkname = rng.choice(STRINGS)
        elif kind == 3:
            info.pax_headers = {rng.choice(("path", "size", "mtime", "x")): rng.choice(STRINGS)}
        else:
            info.mtime, info.uid = rng.choice((-1, 2**40, 0)), rng.choice((0, 2**33))
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz" if rng.random() < 0.5 else "w") as archive:
            for one, text in members:
                text = content if one is info else text
                archive.addfile(one, io.BytesIO(text) if one.isfile() else None)
    except Exception:  # what cannot be packed, or was damaged already
        return by_bytes(data, rng)
    return out.getvalue()


def _gzipped(data: bytes, name: str, rng: random.Random) -> bytes:
    if rng.random() < 0.4:
        return by_bytes(data, rng)
    try:
        return gzip.compress(kind_of(name)(gzip.decompress(data), rng), 1, mtime=0)
    except Exception:  # damaged already
        return by_bytes(data, rng)


def by_safetensors(data: bytes, rng: random.Random) -> bytes:
    """The JSON header of a safetensors file damaged; or its bytes."""
    size = int.from_bytes(data[:8], "little")
    if rng.random() < 0.4 or size > len(data):
        return by_bytes(data, rng)
    header = by_json(data[8 : 8 + size].rstrip(b" "), rng)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


KINDS: dict[str, Mutator] = {
    ".json": by_json,
    ".jsonl": by_json_lines,
    ".toml": by_toml,
    ".xml": by_xml,
    ".zip": by_zip,
    ".tar": by_tar,
    ".tgz": by_tar,
    ".safetensors": by_safetensors,
    **dict.fromkeys((".bin", ".npy", ".pickle", ".pkl", ".sqlite", ".model", ".spm"), by_bytes),
}
