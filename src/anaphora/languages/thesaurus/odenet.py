"""OdeNet, the open German wordnet, in the exchange format WN-LMF.

<LexicalEntry><Lemma writtenForm="Vorhang" partOfSpeech="n"/><Sense synset="odenet-1-n"/></LexicalEntry>
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.languages.thesaurus import Sense
from anaphora.languages.thesaurus.germanet import elements


class OdeNet:
    """Its XML file; any wordnet in WN-LMF will do."""

    def __init__(self, path: Path) -> None:
        self._synsets: dict[str, list[str]] = defaultdict(list)
        self._senses: dict[str, list[str]] = defaultdict(list)
        for entry in elements(path, "LexicalEntry"):
            lemma = entry.find("{*}Lemma")
            if lemma is None or lemma.get("partOfSpeech") != "n":
                continue
            noun = str(lemma.get("writtenForm", ""))
            for sense in entry.iterfind("{*}Sense"):
                synset = str(sense.get("synset"))
                if noun not in self._synsets[synset]:
                    self._synsets[synset].append(noun)
                    self._senses[noun].append(synset)
        if not self._senses:
            raise BadInput(path, "no entry of a noun in it", remedy="Is it a wordnet in WN-LMF (<LexicalEntry>)?")

    def senses(self, noun: str) -> Sequence[Sense]:
        found = ([other for other in self._synsets[s] if other != noun] for s in self._senses.get(noun, ()))
        return [tuple(sense) for sense in found if sense]
