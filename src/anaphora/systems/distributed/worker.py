"""What runs in a worker process: a system, loaded once and asked again and again; and what it says."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anaphora.core.errors import AnaphoraError, OutOfStep
from anaphora.systems import Closing, System, load_system
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer
from anaphora.systems.scoring import Shard, score_shard


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has loaded its system, of which this is known; settings are those of the run's header."""

    settings: Mapping[str, Any]
    has_focus: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker could not do what it was asked.

    final: it is bad input, and no other worker could; out_of_step: and answers before it are in doubt
    """

    message: str
    final: bool = False
    out_of_step: bool = False
    trace: str = ""


Event = Ready | Failed | tuple[int, Answer] | None  # None: what was asked is done


class Worker:
    """Answers requests by events, one after the other."""

    system: System
    options: Options

    def answer(self, request: str, *arguments: Any) -> Iterator[Event]:
        """What a request (load, score, close) gives. Errors are told, not raised: they go to another process."""
        try:
            yield from getattr(self, request)(*arguments)
        except AnaphoraError as error:
            yield Failed(str(error), final=True, out_of_step=isinstance(error, OutOfStep))
        except Exception as error:
            yield Failed(f"{type(error).__name__}: {error}", trace=traceback.format_exc())

    def load(self, spec: str, options: Options) -> Iterator[Event]:
        self.system, self.options = load_system(spec, options), options
        yield Ready(dict(self.system.settings()), bool(getattr(self.system, "has_focus", False)))

    def score(self, shard: Shard) -> Iterator[Event]:
        for number, answer in score_shard(self.system, self.options, shard):
            yield number, answer._replace(extra=dict(answer.extra))  # a mapping proxy cannot be sent

    def close(self) -> Iterator[Event]:
        if isinstance(self.system, Closing):
            self.system.close()
        return iter(())
