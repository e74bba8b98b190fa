"""GermaNet for those who have a licence: the nouns of its XML (`nomen.*.xml`), and its links to WordNet.

<synset id="s1"><lexUnit id="l1"><orthForm>Vorhang</orthForm></lexUnit>…</synset>
<iliRecord lexUnitId="l1" pwnWord="curtain" ewnRelation="synonym" …>
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from anaphora.core.containers import xml_events
from anaphora.core.errors import BadInput
from anaphora.core.files import open_binary
from anaphora.languages.thesaurus import Sense

LINKS = "interLingualIndex*.xml"
SAME = ("synonym", "near_synonym")
UNWANTED = ("namedEntity", "artificial")  # names of things, and concepts that no word has


class GermaNet:
    """The folder of a release."""

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob("nomen.*.xml"))
        if not files:
            remedy = "Name the folder of a GermaNet release (GN_V…_XML)."
            raise BadInput(folder, "no files nomen.*.xml here", remedy=remedy)
        self._senses: dict[str, list[Sense]] = defaultdict(list)
        units: dict[str, Sense] = {}
        for file in files:
            for synset in elements(file, "synset"):
                words = {
                    str(unit.get("id")): (unit.findtext("orthForm") or "").strip()
                    for unit in synset.iter("lexUnit")
                    if not any(unit.get(mark) == "yes" for mark in UNWANTED) and unit.get("styleMarking") != "yes"
                }
                nouns = tuple(dict.fromkeys(word for word in words.values() if word))
                for noun in nouns:
                    self._senses[noun].append(tuple(other for other in nouns if other != noun))
                units |= dict.fromkeys(words, nouns)
        self._translations: dict[str, set[str]] = defaultdict(set)
        self._words: dict[str, set[str]] = defaultdict(set)
        for file in sorted(folder.glob(LINKS)):
            for record in elements(file, "iliRecord"):
                if record.get("ewnRelation", SAME[0]) in SAME:
                    word = str(record.get("pwnWord", "")).replace("_", " ").lower()
                    nouns = units.get(str(record.get("lexUnitId")), ())
                    self._translations[word].update(nouns)
                    for noun in nouns:
                        self._words[noun].add(word)

    def senses(self, noun: str) -> Sequence[Sense]:
        return [sense for sense in self._senses.get(noun, ()) if sense]

    def translations(self, word: str) -> frozenset[str]:
        """By the links to WordNet: all words of the synset of a linked one."""
        return frozenset(self._translations.get(word.lower(), ()))

    def words(self, noun: str) -> frozenset[str]:
        return frozenset(self._words.get(noun, ()))


def elements(path: Path, name: str) -> Iterator[ElementTree.Element]:
    """The elements of one name in a large file, each forgotten when the next one is read."""
    with open_binary(path) as stream:
        for event, element in xml_events(stream, path):
            if event == "end" and element.tag.rpartition("}")[2] == name:
                yield element
                element.clear()
