"""Names of parameters that do not exist are refused with those that do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from anaphora.core.errors import did_you_mean

P = ParamSpec("P")
R = TypeVar("R")


def named(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose TypeError for an unknown keyword says which keywords it takes."""
    parameters = inspect.signature(function).parameters
    known = [name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_POSITIONAL]

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        for name in keywords:
            if name not in known:
                near = did_you_mean(name, known)
                raise TypeError(f"{function.__name__}() has no parameter {name!r}{near}. It takes: {', '.join(known)}")
        return function(*arguments, **keywords)

    return call
