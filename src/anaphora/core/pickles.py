"""Pickles of plain data: strings, numbers, lists, tuples and dicts, and nothing else.

A pickle is a program for a stack machine, and some of its instructions import and call whatever they name. Here the
instructions are parsed by `pickletools.genops`, which runs none of them, and only those that build plain data are
carried out: there is no code that could import or call anything. Keys of dicts are strings and numbers, so that hashing
is cheap; how deep and how large a value is when written out is bounded, as a few bytes can share one list a billion
times.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from anaphora.core.errors import BadInput
from anaphora.core.files import open_binary, read_bytes

MAX_BYTES = 1 << 28
MAX_INSTRUCTIONS = 5_000_000  # of a file: one that takes a byte can make a list that takes sixty
MAX_DEPTH = 50
MAX_VALUES = 20_000_000  # of one pickle, written out; the published files have some 200,000
PLAIN = "Only strings, numbers, lists, tuples and dicts are read from a pickle."
REFUSED = {
    **dict.fromkeys(("GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4"), "names code to import"),
    **dict.fromkeys(("REDUCE", "BUILD", "OBJ", "NEWOBJ", "NEWOBJ_EX"), "calls code"),
    **dict.fromkeys(("PERSID", "BINPERSID", "NEXT_BUFFER", "READONLY_BUFFER"), "refers to something outside the file"),
}


class _NotPlainError(ValueError):
    """Something in a pickle that is not carried out."""


def is_pickle(path: Path) -> bool:
    """Whether a file may be a pickle: by its first bytes, which are those of protocol 0 to 5."""
    with open_binary(path) as stream:
        try:
            start = stream.read(2)
        except (BadInput, OSError):
            return False
    return start[:1] in (b"\x80", b"]", b"}") or start in (b"(l", b"(d", b"(t")


def read_plain_pickles(path: Path) -> Iterator[Any]:
    """The values of a file, which has one pickle or several after each other; gzip is read as well."""
    data = read_bytes(path, MAX_BYTES)
    rest = io.BytesIO(data)
    left = MAX_INSTRUCTIONS
    while rest.tell() < len(data):
        machine = _Machine(left)
        try:
            value = machine.run(rest)
            _measure(value, 0, {})
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            # TypeError, LookupError: what pickletools raises where the arguments of an instruction are damaged
            problem = f"not a pickle of plain data: {error} (instruction at byte {machine.position:,})"
            raise BadInput(path, " ".join(problem.split()), remedy=PLAIN) from None
        left = machine.left
        yield value


class _Machine:
    """Carries out one pickle. `marks` are heights of the stack, where the items of a list, tuple or dict begin.

    left: how many instructions may be carried out
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.position = 0

    def run(self, stream: io.BytesIO) -> Any:
        for opcode, argument, position in pickletools.genops(stream):
            self.position = position or 0
            self.left -= 1
            if self.left < 0:
                _refuse(f"more than {MAX_INSTRUCTIONS:,} instructions")
            if opcode.name in PUSHED:
                self.stack.append(_text(argument) if isinstance(argument, str) else argument)
            elif opcode.name in INSTRUCTIONS:
                INSTRUCTIONS[opcode.name](self, argument)
            elif opcode.name not in IGNORED:
                _refuse(f"{opcode.name} {REFUSED.get(opcode.name, 'makes another kind of value')}")
        if len(self.stack) != 1 or self.marks:
            _refuse(f"{len(self.stack)} values are left at its end")
        return self.stack[0]

    def pop(self, count: int) -> list[Any]:
        """The last values, as long as they are above the last mark."""
        if len(self.stack) - (self.marks[-1] if self.marks else 0) < count:
            _refuse("a value is missing")
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values

    def pop_mark(self) -> list[Any]:
        """The values above the last mark."""
        if not self.marks:
            _refuse("a mark is missing")
        values = self.stack[self.marks[-1] :]
        del self.stack[self.marks.pop() :]
        return values

    def pop_one(self, _: Any) -> None:
        if self.marks and self.marks[-1] == len(self.stack):
            self.marks.pop()
        else:
            self.pop(1)

    def duplicate(self, _: Any) -> None:
        [top] = self.pop(1)
        self.stack += [top, top]

    def put(self, number: Any) -> None:
        [top] = self.pop(1)
        self.stack.append(top)
        self.memo[len(self.memo) if number is None else number] = top

    def get(self, number: int) -> None:
        if number not in self.memo:
            _refuse(f"the memo has no value {number}")
        self.stack.append(self.memo[number])

    def append(self, values: list[Any]) -> None:
        [target] = self.pop(1)
        if type(target) is not list:
            _refuse("values are appended to something that is not a list")
        target += values
        self.stack.append(target)

    def set_items(self, items: list[Any]) -> None:
        [target] = self.pop(1)
        if type(target) is not dict:
            _refuse("items are set in something that is not a dict")
        target.update(_dict(items))
        self.stack.append(target)

    def push(self, value: Any) -> None:
        self.stack.append(value)


def _refuse(problem: str) -> NoReturn:
    raise _NotPlainError(problem)


def _dict(items: list[Any]) -> dict[Any, Any]:
    keys, values = items[::2], items[1::2]
    if len(keys) != len(values):
        _refuse("a dict has a key without a value")
    for key in keys:
        if not isinstance(key, str | int | float):
            _refuse(f"a key of a dict is a {type(key).__name__}")
    return dict(zip(keys, values, strict=True))


def _text(text: str) -> str:
    text.encode()  # half of a surrogate pair is not text and could not be written again
    return text


def _bytes_of_python_2(text: str) -> str:
    """A `str` of Python 2, whose bytes pickletools gives as Latin-1."""
    return text.encode("latin-1").decode("utf-8")


Instruction = Callable[[_Machine, Any], None]
NUMBERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
PUSHED = frozenset((*NUMBERS, "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"))
IGNORED = frozenset(("PROTO", "FRAME", "STOP"))
INSTRUCTIONS: dict[str, Instruction] = {
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), lambda m, text: m.push(_bytes_of_python_2(text))),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "POP": _Machine.pop_one,
    "POP_MARK": lambda m, _: m.pop_mark().clear(),
    "DUP": _Machine.duplicate,
    "EMPTY_LIST": lambda m, _: m.push([]),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "EMPTY_DICT": lambda m, _: m.push({}),
    "LIST": lambda m, _: m.push(m.pop_mark()),
    "TUPLE": lambda m, _: m.push(tuple(m.pop_mark())),
    "TUPLE1": lambda m, _: m.push(tuple(m.pop(1))),
    "TUPLE2": lambda m, _: m.push(tuple(m.pop(2))),
    "TUPLE3": lambda m, _: m.push(tuple(m.pop(3))),
    "DICT": lambda m, _: m.push(_dict(m.pop_mark())),
    "APPEND": lambda m, _: m.append(m.pop(1)),
    "APPENDS": lambda m, _: m.append(m.pop_mark()),
    "SETITEM": lambda m, _: m.set_items(m.pop(2)),
    "SETITEMS": lambda m, _: m.set_items(m.pop_mark()),
}


def _measure(value: Any, depth: int, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """The number and depth of the values when written out; shared parts are measured once, and one that holds itself
    is too deep."""
    if not isinstance(value, list | tuple | dict):
        return 1, 0
    size, height = known.get(id(value), (0, 0))
    if not size:
        if depth > MAX_DEPTH:
            _refuse(f"lists are nested more than {MAX_DEPTH} deep")
        parts = value.values() if isinstance(value, dict) else value
        measured = [_measure(part, depth + 1, known) for part in parts]
        size = 1 + sum(part for part, _ in measured)
        height = 1 + max((below for _, below in measured), default=0)
        known[id(value)] = size, height
    if depth + height > MAX_DEPTH:
        _refuse(f"lists are nested more than {MAX_DEPTH} deep")
    if size > MAX_VALUES:
        _refuse(f"more than {MAX_VALUES:,} values")
    return size, height
