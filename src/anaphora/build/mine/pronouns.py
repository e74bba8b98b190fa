"""The phenomenon `pronouns` (ContraPro §3.1): *it* whose translation depends on the gender of its antecedent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from anaphora.annotate.document import Document, Mention
from anaphora.build.mine.filtering import (
    Antecedents,
    Links,
    WordLinks,
    antecedents,
    contrast,
    disagreement,
    load_swap,
    other_case,
    target_pronoun,
)
from anaphora.build.mine.phenomenon import AnnotatedPair, MinedExample, number_of, switch_of
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Linker, load_linker
from anaphora.coref.features import classify, classify_certain
from anaphora.coref.pronouns import is_pronoun, language
from anaphora.languages import GENDERS, NUMBERS, names_with, table
from anaphora.languages.swap import Swap

CONFIDENCE = 0.6  # docs/mining-quality.md: the curve of precision and yield
DISTANCE = 5  # sentences
NEUTER = ("both", "source")


@dataclass(frozen=True, slots=True)
class PronounMatch:
    """A pair of pronouns that passed all filters: its sentence and tokens."""

    sentence: int
    source: int
    target: int
    antecedents: Antecedents
    swap: Swap
    label: str


class _Pair:
    """A document with its coreference links, which are computed when they are first needed."""

    def __init__(self, pair: AnnotatedPair, linkers: Iterable[Linker]) -> None:
        self.pair, self._linkers = pair, linkers
        self.words = WordLinks(pair.alignments)

    @cached_property
    def links(self) -> tuple[Links, ...]:
        """The links of the source and of the target, by the position of the pronoun."""
        return tuple(
            {(link.pronoun.sentence, link.pronoun.head): link for link in linker.links(document)}
            for linker, document in zip(self._linkers, (self.pair.source, self.pair.target), strict=True)
        )


class Pronouns:
    """Finds pronouns whose form depends on the gender of the antecedent.

    confidence: the least probability of the antecedents (of the built-in resolver; chains have probability 1)
    distance: the largest number of sentences between a pronoun and its antecedent
    oblique: whether ihn, ihm and ihr are included, which the paper excludes
    neuter: whether *es* needs an antecedent on both sides, or only in the source as in the paper, whose German resolver
        did not handle *es* (default: `both` with the built-in resolver)
    joint: weights of the two sides that replace those of the data file (`coref.builtin`)
    fallback: whether pairs whose chains contain no noun are kept with the preceding pronoun as antecedent, as some
        examples of ContraPro
    """

    name = "pronouns"
    breakdowns = (
        "reference_pronoun",
        "location",
        "distance>3",
        "pronoun_pair",
        "location×reference_pronoun",
        "distance>3×reference_pronoun",
    )

    def __init__(
        self,
        source: str,
        target: str,
        *,
        link_source: str | Linker = "builtin",
        link_target: str | Linker = "builtin",
        confidence: float | str | None = None,
        distance: int | str = DISTANCE,
        oblique: bool | str = False,
        neuter: str | None = None,
        fallback: bool | str = False,
        joint: Mapping[str, float] | None = None,
    ) -> None:
        self._data = pair_data(source, target)
        self._linkers = tuple(
            load_linker(linker, code) if isinstance(linker, str) else linker
            for linker, code in ((link_source, source), (link_target, target))
        )
        self._joint = joint
        self._languages = language(source), language(target)
        self._swap = load_swap(self._data.swap, target)
        self._confidence = number_of(CONFIDENCE if confidence is None else confidence, "confidence")
        self._distance = int(number_of(distance, "distance"))
        self._oblique, self._fallback = switch_of(oblique, "oblique"), switch_of(fallback, "fallback")
        self._neuter = neuter or ("both" if self._linkers[1].settings().get("linker") == "builtin" else "source")
        if self._neuter not in NEUTER:
            raise AnaphoraError(f"neuter: {self._neuter!r} is not known. Known: {', '.join(NEUTER)}")

    def settings(self) -> Mapping[str, Any]:
        return {
            "phenomenon": self.name,
            "languages": f"{self._data.source}-{self._data.target}",
            "link_source": dict(self._linkers[0].settings()),
            "link_target": dict(self._linkers[1].settings()),
            "confidence": self._confidence,
            "distance": self._distance,
            "oblique": self._oblique,
            "neuter": self._neuter,
            "fallback": self._fallback,
        }

    def translations(self, pronoun: str) -> frozenset[str]:
        """Return the target pronouns that can translate a source pronoun; none if it is not mined."""
        return self._data.targets(pronoun, oblique=self._oblique)

    def extract(self, pair: AnnotatedPair, counts: Counter[str]) -> Iterator[MinedExample]:
        """Yield the examples of a document; count the reason for rejection of the other pronouns."""
        for match in self.find(pair, counts):
            right = pair.target.sentences[match.sentence].text
            wrong = tuple(variant.text for variant in match.swap.variants.values())
            yield MinedExample(pair.name, match.sentence, match.label, right, wrong, tags_of(pair, match))

    def find(self, pair: AnnotatedPair, counts: Counter[str]) -> Iterator[PronounMatch]:
        """Yield the pairs of pronouns that pass all filters."""
        known = _Pair(pair, self._linkers)
        for number in range(pair.first, len(pair.source.sentences)):
            sentence = pair.source.sentences[number]
            for index in range(len(sentence)):
                if self.translations(sentence[index].text.lower()) and is_pronoun(sentence, index, self._languages[0]):
                    counts["pronouns"] += 1
                    match = self._match(known, number, index)
                    if isinstance(match, str):
                        counts[match] += 1
                    else:
                        counts["items"] += 1
                        yield match

    def _match(self, known: _Pair, number: int, index: int) -> PronounMatch | str:
        source, target = known.pair.source.sentences[number], known.pair.target.sentences[number]
        wanted = self.translations(source[index].text.lower())
        candidates = [
            j
            for j, token in enumerate(target)
            if token.text.lower() in wanted and is_pronoun(target, j, self._languages[1])
        ]
        target_index = target_pronoun((number, index), source, candidates, known.words)
        if isinstance(target_index, str):
            return target_index
        antecedent_pair = self._antecedents(known, number, index, target_index)
        if isinstance(antecedent_pair, str):
            return antecedent_pair
        swap = self._swap(target, target_index)
        swap = swap if isinstance(swap, str) else contrast(target, swap)
        if isinstance(swap, str):
            return swap
        if other_case(source[index], swap.case, swap.cases):
            return "case unclear"
        head = known.pair.target.sentences[antecedent_pair.target.sentence][antecedent_pair.target.head]
        reason = disagreement(head, swap.genders, swap.number)
        if reason and not antecedent_pair.fallback:
            return reason
        gender = min(swap.genders) if antecedent_pair.fallback else head.features["Gender"]
        label = self._data.labels[f"{gender}.Plur" if swap.number == "Plur" else gender]
        return PronounMatch(number, index, target_index, antecedent_pair, swap, label)

    def _antecedents(self, known: _Pair, number: int, index: int, target_index: int) -> Antecedents | str:
        """Return the antecedents of a pair of pronouns, or the reason for rejection."""
        sources, targets = known.links
        source, target = sources.get((number, index)), targets.get((number, target_index))
        if source is None or target is None:
            return "not resolved"
        form = known.pair.target.sentences[number][target_index].text.lower()
        if form in self._data.clausal:  # non-referential by rule: make it easier to …, es handelt sich um …
            sentences = known.pair.source.sentences[number], known.pair.target.sentences[number]
            if kind := classify_certain(sentences[0], index, self._languages[0], doing=True):
                return f"source {kind}"
            if kind := classify_certain(sentences[1], target_index, self._languages[1]):
                return f"target {kind}"
        alone = form in self._data.source_only and self._neuter == "source"
        result = antecedents(
            source,
            None if alone else target,
            known.words,
            known.pair.target,
            clausal=form in self._data.clausal,
            fallback=self._fallback,
            by=self._joint,
        )
        if isinstance(result, str):
            if result == "no source antecedent":
                kind = classify(known.pair.source.sentences[number], index, self._languages[0])
                return f"source {kind}" if kind else result
            return result
        if result.confidence < self._confidence:
            return "not sure enough"
        return result if number - result.source.sentence <= self._distance else "too far away"


# The pronouns of a language pair, one data file per pair.

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class PairData:
    """The pronouns of a language pair.

    translations: the target pronouns of each source pronoun; oblique: further ones, included on request
    labels: the class of an example by the gender (and number) of its pronoun
    clausal: target pronouns that are non-referential about as often as referential
    source_only: target pronouns for which an antecedent in the source is enough (§3.1: es)
    swap: the function that makes contrastive variants (`filtering.SWAPS`)
    """

    source: str
    target: str
    translations: Mapping[str, Words]
    oblique: Mapping[str, Words]
    labels: Mapping[str, str]
    clausal: Words
    source_only: Words
    swap: str

    def targets(self, pronoun: str, *, oblique: bool) -> Words:
        """Return the translations of a source pronoun; none if it is not mined."""
        more = self.oblique.get(pronoun, frozenset()) if oblique else frozenset()
        return self.translations.get(pronoun, frozenset()) | more


@cache
def pair_data(source: str, target: str) -> PairData:
    """Return the data of a language pair."""
    name = f"{source}-{target}"
    data = table(name, "mining")
    if data is None:
        known = ", ".join(names_with("mining"))
        raise AnaphoraError(f"pronouns of {name} cannot be mined: there is no data file for it. Known: {known}")
    return PairData(
        source=source,
        target=target,
        translations={word: frozenset(forms) for word, forms in data["pronouns"].items()},
        oblique={word: frozenset(forms) for word, forms in data.get("oblique", {}).items()},
        labels={_features(name): label for name, label in data["labels"].items()},
        clausal=frozenset(data.get("clausal", ())),
        source_only=frozenset(data.get("source_only", ())),
        swap=data["swap"],
    )


def _features(name: str) -> str:
    """Return the key of a label in Universal Dependencies: Masc for m, Masc.Plur for m.pl."""
    gender, _, number = name.partition(".")
    return f"{GENDERS[gender]}.{NUMBERS[number]}" if number else GENDERS[gender]


# Tags of a mined example, under the names that ContraPro suites have.


def tags_of(pair: AnnotatedPair, match: PronounMatch) -> dict[str, Any]:
    """Return the tags of ContraPro's records (`suites/readers/contrapro.py`), and further ones."""
    source = pair.source.sentences[match.sentence][match.source]
    target = pair.target.sentences[match.sentence][match.target]
    both = match.antecedents
    distance = match.sentence - both.source.sentence
    pronoun, reference = source.text.lower(), target.text.lower()
    return {
        "document": pair.name,
        "sentence": match.sentence,
        "source_pronoun": pronoun,
        "reference_pronoun": reference,
        "pronoun_pair": f"{pronoun}:{reference}",
        "candidate_pronouns": [reference, *(v.pronoun.lower() for v in match.swap.variants.values())],
        "source_antecedent": pair.source.text(both.source),
        "target_antecedent": pair.target.text(both.target),
        "distance": distance,
        "location": "external" if distance else "intrasegmental",
        **_head_tags("source", pair.source, both.source),
        **_head_tags("target", pair.target, both.target),
        "source_relation": source.relation,
        "target_relation": target.relation,
        "case": match.swap.case,
        "confidence": round(both.confidence, 3),
    }


def _head_tags(side: str, document: Document, mention: Mention) -> dict[str, Any]:
    head = document.sentences[mention.sentence][mention.head]
    morphology = "|".join(f"{name}={value}" for name, value in sorted(head.features.items()))
    tags = {
        "": head.text,
        "_lemma": head.lemma,
        "_pos": head.upos,
        "_gender": head.features.get("Gender", ""),
        "_number": head.features.get("Number", ""),
        "_morpho": morphology,
    }
    return {f"{side}_antecedent_head{key}": value for key, value in tags.items() if value}
