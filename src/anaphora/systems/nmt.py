"""`nmt:MODEL`: models that `anaphora train` has made, of every architecture; `nmt:MODEL1,MODEL2` is an ensemble.

What is context to such a model is part of it (`nmt/layout.py`). So `--context` need not be given. Given, it is the
most sentences that the model sees: fewer than it was trained with may be asked for, to find out what they are worth.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.attribution import choices_of, read_pieces
from anaphora.nmt.candidates import CandidateScorer, Loaded, encode_question, load_models
from anaphora.nmt.decoding import Beam, Ensemble, Source, Translator
from anaphora.runs import CandidateScores
from anaphora.scoring.attribution import Choice, ChoiceValues, attribute_choices, mean_values
from anaphora.suites.example import Example, Passage, Translation
from anaphora.systems import KINDS, TRAINED_MODEL
from anaphora.systems.attribution import (
    Position,
    Positions,
    TokenAttribution,
    gold_passage,
    piece_spans,
    token_attributions,
)
from anaphora.systems.context import Options, split_settings, with_target_context
from anaphora.systems.encoding import answer
from anaphora.systems.translation import Sentence


class TrainedSystem:
    """One or more trained models. Settings in the spec: device; normalize, the power of the length in translation."""

    traits = TRAINED_MODEL

    def __init__(self, what: str, options: Options) -> None:
        names, settings = split_settings(what, KINDS["nmt"].settings)
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        self.options = options
        self.loaded: Loaded = load_models(names, settings.get("device"))
        self.normalize = _number(settings.get("normalize", "1"))
        _check_languages(names, self.loaded.languages, options.languages)

    def settings(self) -> dict[str, Any]:
        """Return what the scores depend on, for the header of a run. context: what is read, not what is asked for"""
        layout = self.loaded.layout
        arrangement = {  # under the names of version 0.1.0, as normalise below
            "joined_source": layout.source_context,
            "joined_target": layout.target_context,
            "contexts": layout.context_encoders,
            "context_sentences": layout.context_sentences,
        }
        own = {"arrangement": arrangement, "normalise": self.normalize, "context": self._label}
        return {**self.loaded.fingerprint, **own}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        loaded, options = self.loaded, self.options
        questions = [
            encode_question(e, loaded.text, loaded.layout, options.scope, loaded.limit, options.truncate)
            for e in self._in_context(examples)
        ]
        scorer = CandidateScorer(loaded, options.batch_tokens)
        trees = scorer.through_trees(questions, options.margins_only, done)
        for number, scores in scorer.one_by_one(questions) if options.plain else trees:
            yield number, answer(questions[number].candidates, scores, questions[number].truncated)

    def attribute(
        self, examples: Sequence[Example], method: str, done: Container[int] = ()
    ) -> Iterator[tuple[int, TokenAttribution]]:
        """Yield what the choice of the first token that differs depends on: see `Attributor`.

        The values of an ensemble are the means of those of its models.
        """
        loaded, options, start = self.loaded, self.options, self.loaded.text.special.start
        cut = self._in_context(examples)
        questions = [
            encode_question(e, loaded.text, loaded.layout, "pronoun", loaded.limit, options.truncate) for e in cut
        ]
        choices = []
        for example, question in zip(cut, questions, strict=True):
            first = question.candidates[example.gold or 0]
            tokens = tuple(candidate.predicted[0] for candidate in question.candidates)
            choices.append(Choice(first.inputs, (start, *first.given), tokens, example.gold or 0))
        computes = [choices_of(model, method) for model in loaded.models]

        def compute(batch: Sequence[Choice]) -> list[ChoiceValues]:
            return [mean_values(values) for values in zip(*(one(batch) for one in computes), strict=True)]

        read = [self._as_read(example) for example in cut]
        computed = attribute_choices(choices, compute, options.batch_tokens, done)
        yield from token_attributions(computed, read, questions, lambda n: self._positions(read[n], choices[n]))

    def _as_read(self, example: Example) -> Example:
        """Return the example without target context that the model does not read."""
        size = 1 + self.loaded.layout.target_reach
        return replace(example, candidates=tuple(candidate[-size:] for candidate in example.candidates))

    def _positions(self, example: Example, choice: Choice) -> list[Positions]:
        """Return where the tokens are that the encoders and the decoder read; the oldest may have been truncated."""
        loaded = self.loaded
        pieces, inputs, target = read_pieces(loaded.text, loaded.layout, example.source, gold_passage(example))
        positions: list[Position | None] = []
        for side, sentence, parts in pieces:
            passage = (example.source, gold_passage(example))[side]
            spans = piece_spans(parts, passage[sentence])
            positions += [None if span is None else Position(side, sentence, *span) for span in spans]
        numbers = [part[-len(ids) :] for part, ids in zip(inputs, choice.inputs, strict=True)]
        numbers.append((-1, *target[: len(choice.read) - 1]))
        return [[None if number < 0 else positions[number] for number in part] for part in numbers]

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Translations of sentences without context, by beam search."""
        return [
            translation.text
            for translation in self._translator(beams, max_tokens).translate([Source(t) for t in texts])
        ]

    def translate_sentences(
        self,
        sentences: Sequence[Sentence],
        *,
        known: Passage = (),
        given: Sequence[Sentence] | None = None,
        beams: int | None = None,
        max_tokens: int = 256,
    ) -> list[Translation]:
        """Sentences of documents, in order, each with the context that the model reads.

        known: translations of the sentences before the first one, where its document began earlier
        given: another system's translations, one for one: the target context, instead of what is produced
        """
        sources = []
        for n, sentence in enumerate(sentences):
            first = n == 0 or not sentence.before
            before = given[n].before if given is not None else known if n == 0 else () if first else None
            sources.append(Source(sentence.text, sentence.before, before, None if first else n - 1))
        return self._translator(beams, max_tokens).translate(sources)

    @property
    def in_order(self) -> bool:
        """Whether a sentence needs the translation of the one before it."""
        return "target" in self.loaded.layout.context_encoders and self._reach > 0

    @property
    def _reach(self) -> int:
        """The number of context sentences that are read: at most those that the model was trained with."""
        reach, asked = self.loaded.layout.reach, self.options.context.sentences
        return reach if not asked and self.options.own_context else min(reach, asked)

    @property
    def _label(self) -> str:
        """Sentences of source + target context, as in the signature: 1+1."""
        layout, target = self.loaded.layout, self.options.context.target
        read = min(layout.target_reach, self._reach) if target != "none" else 0
        return f"{min(layout.source_reach, self._reach)}+{read}{'p' if target == 'produced' and read else ''}"

    def _translator(self, beams: int | None = None, max_tokens: int = 256) -> Translator:
        loaded, options = self.loaded, self.options
        beam = Beam(beams or 4, max_tokens, self.normalize)
        return Translator(
            Ensemble(loaded.models),
            loaded.text,
            loaded.layout,
            beam,
            options.batch_tokens,
            self._reach,
            loaded.limit,
            options.truncate,
        )

    def _in_context(self, examples: Sequence[Example]) -> list[Example]:
        """Return the examples with the context that is read, and target context as the options say."""
        target, size = self.options.context.target, min(self._reach, self.loaded.layout.target_reach)
        cut = [example.with_context(self._reach) for example in examples]
        if target == "gold" or not size:
            return cut
        if target == "none":
            return [with_target_context(example, ("",) * example.context_size) for example in cut]
        produced = self._produced(list(dict.fromkeys(example.source[:-1] for example in examples)), size)
        in_context = []
        for example, short in zip(examples, cut, strict=True):
            before = produced[example.source[:-1]][-size:]
            in_context.append(with_target_context(short, before) if before else short)
        return in_context

    def _produced(self, contexts: Sequence[Passage], size: int) -> dict[Passage, Passage]:
        """Return the model's own translations of context passages, sentence by sentence.

        size: the number of sentences that are needed; a model that reads its own translations translates all of them
        """
        sources: list[Source] = []
        indices: dict[Passage, list[int | None]] = {}  # of each sentence in sources
        for passage in contexts:
            previous, indices[passage] = None, [None] * len(passage)
            for n, text in enumerate(passage):
                if text and (self.in_order or n >= len(passage) - size):
                    before = tuple(sentence for sentence in passage[:n] if sentence)
                    sources.append(Source(text, before, None, previous))
                    previous = indices[passage][n] = len(sources) - 1
        translations = [translation.text for translation in self._translator().translate(sources)]
        return {
            passage: tuple("" if n is None else translations[n] for n in numbers)
            for passage, numbers in indices.items()
        }


def _check_languages(names: str, languages: str, asked: tuple[str, str]) -> None:
    """Raise an error if a model was trained for another pair. Regions (pt-BR) do not matter; "" is not known."""
    source, _, target = languages.partition("-")
    pairs = [[re.split("[-_]", language)[0].lower() for language in pair] for pair in ((source, target), asked)]
    if all(language for pair in pairs for language in pair) and pairs[0] != pairs[1]:
        problem = f"{names}: a model for {languages}, but the text is {'-'.join(asked)}"
        raise AnaphoraError(f"{problem}. Choose a model or a suite of the other's language pair")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise AnaphoraError(f"normalize={text}: a number is expected, 0 for no normalization by length") from None
