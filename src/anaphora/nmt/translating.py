"""Documents through a trained model: each sentence with the context that the model reads, translated by beam search.

A model that reads target context (T-) gets its own translation of the sentences before, or another system's, as in
Bawden et al. 2018 §4.2. In the first case sentence k of all documents is translated at once, then sentence k + 1: so
there are batches, and every document proceeds in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.arrangement import Arrangement, Ids, Marks, inputs_of
from anaphora.nmt.ensemble import Ensemble
from anaphora.nmt.search import Beam, Hypothesis, search
from anaphora.nmt.text import Text
from anaphora.scoring.padded import pad
from anaphora.suites.example import Passage
from anaphora.systems import Translation

ROWS = 256  # hypotheses that are decoded side by side


class Source(NamedTuple):
    """A sentence to translate. before: those before it in its document.

    given: translations of those before it where they are known, the last of them last; none: what is produced
    follows: the place of the sentence before it among those that are translated, if its translation is waited for
    """

    text: str
    before: Passage = ()
    given: Passage | None = None
    follows: int | None = None


@dataclass(frozen=True)
class Translator:
    """A model, and how it is used.

    context: at most so many sentences of context, where that is less than the model reads
    limit: how many tokens the model takes; what is longer is an error, or loses its oldest context (truncate)
    """

    ensemble: Ensemble
    text: Text
    arrangement: Arrangement
    beam: Beam
    batch_tokens: int = 2048
    context: int | None = None
    limit: int | None = None
    truncate: bool = False

    def translate(self, sources: Sequence[Source]) -> list[Translation]:
        """A translation for each sentence, in the order given."""
        found: list[Translation | None] = [None] * len(sources)
        targets: list[Passage] = [()] * len(sources)  # what is known of the translations before each sentence
        for wave in self._waves(sources):
            for place in wave:
                before = self._awaited(sources[place])
                if before is not None:
                    produced = found[before]
                    assert produced is not None
                    targets[place] = (*targets[before], produced.text)
                else:
                    targets[place] = sources[place].given or ()
            wanted = [self._inputs(sources[place], targets[place]) for place in wave]
            for places, inputs in self._batches(wave, wanted):
                columns = tuple(pad(column, self.text.marks.padding) for column in zip(*inputs, strict=True))
                hypotheses = search(self.ensemble, columns, self.text.marks, self._beam)
                for place, nbest in zip(places, hypotheses, strict=True):
                    found[place] = self._translation(nbest, self._separators(sources[place]))
        return [translation for translation in found if translation is not None]

    def _waves(self, sources: Sequence[Source]) -> list[list[int]]:
        """All at once, or, where a model reads what it has produced, those that wait for nothing, and so on."""
        waves: list[list[int]] = []
        depth: list[int] = []
        for place, source in enumerate(sources):
            before = self._awaited(source)
            depth.append(0 if before is None else depth[before] + 1)
            if depth[-1] == len(waves):
                waves.append([])
            waves[depth[-1]].append(place)
        return waves

    def _awaited(self, source: Source) -> int | None:
        """The sentence whose translation this one needs."""
        return source.follows if source.given is None and "target" in self.arrangement.contexts else None

    def _inputs(self, source: Source, targets: Passage) -> tuple[Ids, ...]:
        reach = self._reach
        before, known = _last(source.before, reach), _last(targets, reach)
        sentences = [self.text.encode_source(sentence) if sentence else [] for sentence in (*before, source.text)]
        translations = [self.text.encode_target(sentence) if sentence else [] for sentence in known]
        inputs = inputs_of(self.arrangement, self.text.marks, sentences, translations)
        longest = max(map(len, inputs))
        if self.limit is None or longest <= self.limit:
            return inputs
        if not self.truncate:
            raise AnaphoraError(f"{longest:,} tokens, but the model takes {self.limit:,}: {source.text[:60]!r}…")
        return tuple(ids[-self.limit :] for ids in inputs)

    def _batches(
        self, places: Sequence[int], wanted: Sequence[tuple[Ids, ...]]
    ) -> Iterator[tuple[list[int], list[tuple[Ids, ...]]]]:
        """Sentences of like length, within a budget of tokens and of hypotheses."""
        order = sorted(range(len(places)), key=lambda n: (max(map(len, wanted[n])), n))
        most = max(1, ROWS // self.beam.size)
        batch: list[int] = []
        for n in order:
            tokens = max(map(len, wanted[n])) * (len(batch) + 1)
            if batch and (tokens > self.batch_tokens or len(batch) == most):
                yield [places[m] for m in batch], [wanted[m] for m in batch]
                batch = []
            batch.append(n)
        if batch:
            yield [places[m] for m in batch], [wanted[m] for m in batch]

    def _separators(self, source: Source) -> int:
        """How many sentences the decoder produces before the current one."""
        return sum(map(bool, _last(source.before, min(self.arrangement.joined_target, self._reach))))

    def _translation(self, nbest: Sequence[Hypothesis], separators: int) -> Translation:
        marks = self.text.marks
        decoded = (self.text.decode(current_sentence(h.tokens, marks, separators)) for h in nbest)
        texts = [" ".join(text.split()) for text in decoded]
        surplus = nbest[0].tokens.count(marks.separator) - separators
        return Translation(texts[0], surplus, tuple((t, h.score) for t, h in zip(texts, nbest, strict=True)))

    @property
    def _reach(self) -> int:
        reach = self.arrangement.reach
        return reach if self.context is None else min(reach, self.context)

    @property
    def _beam(self) -> Beam:
        if self.limit is None or self.beam.max_tokens <= self.limit:
            return self.beam
        return Beam(self.beam.size, self.limit, self.beam.normalise)


def current_sentence(tokens: Ids, marks: Marks, separators: int) -> Ids:
    """What follows the last separator that the context makes; without it, all (Bawden et al. 2018, footnote 5).

    Separators beyond that are left out: they mean nothing to who reads the translation.
    """
    places = [place for place, token in enumerate(tokens) if token == marks.separator]
    start = places[separators - 1] + 1 if 0 < separators <= len(places) else 0
    return tuple(token for token in tokens[start:] if token != marks.separator)


def _last(sentences: Passage, number: int) -> Passage:
    return sentences[max(0, len(sentences) - number) :] if number else ()
