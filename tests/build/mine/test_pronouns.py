"""The phenomenon "pronouns": from an annotated pair of documents to contrastive examples, every rejection counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate import load_annotator
from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build.mine.filtering import SWAPS
from anaphora.build.mine.phenomenon import AnnotatedPair, MinedExample
from anaphora.build.mine.pronouns import CONFIDENCE, Pronouns, pair_data
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Link
from anaphora.coref.pronouns import language
from anaphora.languages import names_with

# in the order of the steps; the reasons of a swap come between the antecedents and their agreement
REASONS = (
    "no target pronoun",
    "not aligned to a pronoun",
    "aligned to several",
    "not resolved",
    "source pleonastic",
    "source event",
    "target pleonastic",
    "no source antecedent",
    "no target antecedent",
    "antecedents not aligned",
    "not sure enough",
    "too far away",
    "number does not agree",
    "gender unknown",
    "gender does not agree",
)

Parsed = Callable[[str], Sentence]

LAMP = "The/DET/2/det lamp/NOUN/3/nsubj/Number=Sing broke/VERB/0/root"
LAMPE = "Die/DET/2/det Lampe/NOUN/3/nsubj/Number=Sing,Gender=Fem zerbrach/VERB/0/root"
IT = "It/PRON/3/nsubj was/AUX/3/cop new/ADJ/0/root"
SIE = "Sie/PRON/3/nsubj war/AUX/3/cop/VerbForm=Fin,Number=Sing neu/ADJ/0/root"
WORDS = ((0, 0), (1, 1), (2, 2))


class Fixed:
    """A linker that knows what is right: every pronoun stands for the second word of the document."""

    def __init__(self, mention: Mention | None, kind: str = "fixed") -> None:
        self.mention, self.kind = mention, kind

    def settings(self) -> dict[str, Any]:
        return {"linker": self.kind}

    def links(self, document: Document) -> list[Link]:
        nouns = () if self.mention is None else (self.mention,)
        return [
            Link(Mention(n, i, i + 1, i), self.mention, nouns=nouns, earlier=self.mention)
            for n, sentence in enumerate(document.sentences)
            for i, token in enumerate(sentence)
            if token.upos == "PRON"
        ]


NOUN = Mention(0, 0, 2, 1)


def mine(
    parsed: Parsed, source: list[str], target: list[str], first: int = 0, **options: Any
) -> tuple[list[MinedExample], Counter[str]]:
    ours, theirs = (Document(tuple(map(parsed, lines))) for lines in (source, target))
    alignments = options.pop("alignments", (WORDS,) * len(source))
    pair = AnnotatedPair("film", ours, theirs, alignments, first)
    counts: Counter[str] = Counter()
    known = {"link_source": Fixed(NOUN), "link_target": Fixed(NOUN)}
    return list(Pronouns("en", "de", **(known | options)).extract(pair, counts)), counts


def test_an_example(parsed: Parsed) -> None:
    (mined,), counts = mine(parsed, [LAMP, IT], [LAMPE, SIE])
    assert (mined.document, mined.sentence, mined.label) == ("film", 1, "sie")
    assert mined.right == "Sie war neu"
    assert mined.wrong == ("Er war neu", "Es war neu")
    assert counts == {"pronouns": 1, "items": 1}


def test_its_tags_are_those_of_contrapro(parsed: Parsed) -> None:
    (mined,), _ = mine(parsed, [LAMP, IT], [LAMPE, SIE])
    assert mined.tags == {
        "document": "film",
        "sentence": 1,
        "source_pronoun": "it",
        "reference_pronoun": "sie",
        "pronoun_pair": "it:sie",
        "candidate_pronouns": ["sie", "er", "es"],
        "source_antecedent": "The lamp",
        "target_antecedent": "Die Lampe",
        "distance": 1,
        "location": "external",
        "source_antecedent_head": "lamp",
        "source_antecedent_head_lemma": "lamp",
        "source_antecedent_head_pos": "NOUN",
        "source_antecedent_head_number": "Sing",
        "source_antecedent_head_morpho": "Number=Sing",
        "target_antecedent_head": "Lampe",
        "target_antecedent_head_lemma": "lampe",
        "target_antecedent_head_pos": "NOUN",
        "target_antecedent_head_gender": "Fem",
        "target_antecedent_head_number": "Sing",
        "target_antecedent_head_morpho": "Gender=Fem|Number=Sing",
        "source_relation": "nsubj",
        "target_relation": "nsubj",
        "case": "Nom",
        "confidence": 1.0,
    }


def test_the_farthest_antecedent(parsed: Parsed) -> None:
    assert mine(parsed, [LAMP, IT], [LAMPE, SIE], distance=1)[0]
    assert mine(parsed, [LAMP, IT, IT], [LAMPE, SIE, SIE], distance="1")[1]["too far away"] == 1


def test_the_same_sentence(parsed: Parsed) -> None:
    source = f"{LAMP} it/PRON/5/nsubj fell/VERB/3/parataxis"
    target = f"{LAMPE} sie/PRON/5/nsubj fiel/VERB/3/parataxis/VerbForm=Fin,Number=Sing"
    (mined,), _ = mine(parsed, [source], [target], alignments=((*WORDS, (3, 3), (4, 4)),))
    assert (mined.tags["distance"], mined.tags["location"]) == (0, "intrasegmental")


OTHER = "Er/PRON/3/nsubj war/AUX/3/cop neu/ADJ/0/root"
PLURAL = LAMPE.replace("Number=Sing", "Number=Plur")
NAMELESS = LAMPE.replace(",Gender=Fem", "")
DAS = "Das/PRON/3/nsubj war/AUX/3/cop neu/ADJ/0/root"
BEST = "Sie/PRON/4/nsubj war/AUX/4/cop/VerbForm=Fin,Number=Sing die/DET/4/det beste/ADJ/0/root"


@pytest.mark.parametrize(
    ("target", "options", "reason"),
    [
        ([LAMPE, DAS], {}, "no target pronoun"),
        ([LAMPE, SIE], {"alignments": (WORDS, ((1, 1),))}, "not aligned to a pronoun"),
        ([LAMPE, SIE], {"link_source": Fixed(None)}, "no source antecedent"),
        ([LAMPE, SIE], {"link_target": Fixed(None)}, "no target antecedent"),
        ([LAMPE, SIE], {"alignments": ((), WORDS)}, "antecedents not aligned"),
        ([LAMPE, OTHER], {}, "gender does not agree"),
        ([PLURAL, SIE], {}, "number does not agree"),
        ([NAMELESS, SIE], {}, "gender unknown"),
        ([LAMPE, SIE], {"distance": 0}, "too far away"),
        ([LAMPE, BEST], {}, "predicate agrees"),
        ([LAMPE, "Sie/PRON/2/obj nahm/VERB/0/root ich/PRON/2/nsubj"], {}, "case unclear"),
    ],
)
def test_rejections_are_counted(parsed: Parsed, target: list[str], options: dict[str, Any], reason: str) -> None:
    examples, counts = mine(parsed, [LAMP, IT], target, **options)
    assert examples == []
    assert counts == {"pronouns": 1, reason: 1}
    assert reason in {*REASONS, "predicate agrees", "case unclear"}


def test_a_pleonastic_pronoun_has_a_reason_of_its_own(parsed: Parsed) -> None:
    rains = "It/PRON/2/nsubj rains/VERB/0/root/Lemma=rain"
    _, counts = mine(parsed, [LAMP, rains], [LAMPE, SIE], link_source=Fixed(None))
    assert counts == {"pronouns": 1, "source pleonastic": 1}


def test_the_neuter_rule(parsed: Parsed) -> None:
    """§3.1: es needs no chain of its own, er and sie do."""
    haus = "Das/DET/2/det Haus/NOUN/3/nsubj/Number=Sing,Gender=Neut fiel/VERB/0/root"
    es = "Es/PRON/3/nsubj war/AUX/3/cop neu/ADJ/0/root"
    unknown = {"link_target": Fixed(None)}
    (mined,), _ = mine(parsed, [LAMP, IT], [haus, es], **unknown)
    assert (mined.label, mined.tags["target_antecedent"]) == ("es", "Das Haus")
    assert mine(parsed, [LAMP, IT], [LAMPE, SIE], **unknown)[0] == []
    assert mine(parsed, [LAMP, IT], [haus, es], neuter="both", **unknown)[0] == []
    assert mine(parsed, [LAMP, IT], [LAMPE, es], **unknown)[1]["gender does not agree"] == 1


HAUS = "Das/DET/2/det Haus/NOUN/3/nsubj/Number=Sing,Gender=Neut fiel/VERB/0/root"


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (IT, "Es/PRON/2/nsubj heißt/VERB/0/root/Lemma=heißen so/ADV/2/advmod", "target pleonastic"),
        ("It/PRON/2/nsubj rains/VERB/0/root/Lemma=rain", "Es/PRON/2/nsubj fällt/VERB/0/root", "source pleonastic"),
    ],
)
def test_es_for_no_noun_whatever_linkers_say(parsed: Parsed, source: str, target: str, reason: str) -> None:
    assert mine(parsed, [LAMP, source], [HAUS, target])[1] == {"pronouns": 1, reason: 1}


def test_the_fallback(parsed: Parsed) -> None:
    pronouns = {"link_source": Chained(), "link_target": Chained()}
    assert mine(parsed, [IT, IT], [SIE, SIE], **pronouns)[0] == []
    (mined,), _ = mine(parsed, [IT, IT], [SIE, SIE], fallback=True, **pronouns)
    assert (mined.tags["source_antecedent"], mined.tags["target_antecedent"], mined.label) == ("It", "Sie", "sie")


class Chained(Fixed):
    """Chains of pronouns alone: the first word of each sentence."""

    def __init__(self) -> None:
        super().__init__(None)

    def links(self, document: Document) -> list[Link]:
        before = [None, *(Mention(n, 0, 1, 0) for n in range(len(document.sentences)))]
        return [Link(Mention(n, 0, 1, 0), None, earlier=before[n]) for n in range(len(document.sentences))]


def test_oblique_forms_on_request(parsed: Parsed) -> None:
    ihr = "Mit/ADP/2/case ihr/PRON/3/obl/Case=Dat ging/VERB/0/root"
    with_it = "With/ADP/2/case it/PRON/3/obl went/VERB/0/root"
    assert mine(parsed, [LAMP, with_it], [LAMPE, ihr])[0] == []
    (mined,), _ = mine(parsed, [LAMP, with_it], [LAMPE, ihr], oblique="yes")
    assert (mined.label, mined.wrong) == ("sie", ("Mit ihm ging",))


def test_the_overlap_of_long_documents_is_not_mined_twice(parsed: Parsed) -> None:
    examples, counts = mine(parsed, [LAMP, IT, IT], [LAMPE, SIE, SIE], first=2)
    assert [mined.sentence for mined in examples] == [2]
    assert counts == {"pronouns": 1, "items": 1}


def test_empty_sides(parsed: Parsed) -> None:
    pair = AnnotatedPair("film", Document((parsed(IT),)), Document((Sentence(()),)), ((),))
    counts: Counter[str] = Counter()
    assert list(Pronouns("en", "de").extract(pair, counts)) == []
    assert counts == {"pronouns": 1, "no target pronoun": 1}


def test_confidence(parsed: Parsed) -> None:
    """The built-in resolver's probabilities; all that is asked for is at least so sure."""
    documents = [LAMP, IT], [LAMPE, SIE]
    builtin = {"link_source": "builtin", "link_target": "builtin"}
    (mined,), _ = mine(parsed, *documents, confidence=0, **builtin)
    sure = mined.tags["confidence"]
    assert 0 < sure < 1
    assert mine(parsed, *documents, confidence=sure - 0.01, **builtin)[0]
    _, counts = mine(parsed, *documents, confidence="1", **builtin)
    assert counts == {"pronouns": 1, "not sure enough": 1}


def test_settings() -> None:
    settings = Pronouns("en", "fr").settings()
    assert settings["languages"] == "en-fr"
    assert settings["confidence"] == CONFIDENCE
    assert settings["neuter"] == "both"
    assert settings["link_source"] == {"linker": "builtin", "language": "en"}
    chained = Pronouns("en", "de", link_source="chains", link_target="chains").settings()
    assert chained["neuter"] == "source"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": "much"}, "confidence: not a number: 'much'"),
        ({"confidence": "nan"}, "confidence: nan is out of range"),
        ({"confidence": 2}, "confidence: 2 is out of range"),
        ({"distance": -1}, "distance: -1 is out of range"),
        ({"oblique": "perhaps"}, "oblique: yes or no, not 'perhaps'"),
        ({"neuter": "none"}, "neuter: 'none' is not known. Known: both, source"),
        ({"link_source": "builtn"}, "unknown linker 'builtn'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AnaphoraError, match=message.replace("?", r"\?")):
        Pronouns("en", "de", **options)


# ------------------------------------------------------------------------------------------------- other language pairs


def test_french_plurals(parsed: Parsed) -> None:
    lamps = parsed("The/DET/2/det lamps/NOUN/3/nsubj/Number=Plur broke/VERB/0/root")
    they = parsed("They/PRON/3/nsubj were/AUX/3/cop new/ADJ/0/root")
    lampes = parsed("Les/DET/2/det lampes/NOUN/3/nsubj/Number=Plur,Gender=Fem cassèrent/VERB/0/root")
    elles = parsed("Elles/PRON/3/nsubj étaient/AUX/3/cop/Lemma=être grandes/ADJ/0/root/Lemma=grand")
    pair = AnnotatedPair("film", Document((lamps, they)), Document((lampes, elles)), (WORDS, WORDS))
    (mined,) = Pronouns("en", "fr", confidence=0).extract(pair, Counter())
    assert (mined.label, mined.right, mined.wrong) == ("elles", "Elles étaient grandes", ("Ils étaient grands",))


SPANISH = """\
# newdoc id = a
1	Compré	comprar	VERB	_	VerbForm=Fin	0	root	_	_
2	la	el	DET	_	Definite=Def|Gender=Fem|Number=Sing	3	det	_	_
3	mesa	mesa	NOUN	_	Gender=Fem|Number=Sing	1	obj	_	SpaceAfter=No
4	.	.	PUNCT	_	_	1	punct	_	_

1	Juan	Juan	PROPN	_	Gender=Masc|Number=Sing	3	nsubj	_	_
2	la	él	PRON	_	Case=Acc|Gender=Fem|Number=Sing|Person=3|PronType=Prs	3	obj	_	_
3	vendió	vender	VERB	_	VerbForm=Fin	0	root	_	SpaceAfter=No
4	.	.	PUNCT	_	_	3	punct	_	_
"""
ENGLISH = """\
# newdoc id = a
1	I	I	PRON	_	_	2	nsubj	_	_
2	bought	buy	VERB	_	VerbForm=Fin	0	root	_	_
3	the	the	DET	_	Definite=Def	4	det	_	_
4	table	table	NOUN	_	Number=Sing	2	obj	_	SpaceAfter=No
5	.	.	PUNCT	_	_	2	punct	_	_

1	Juan	Juan	PROPN	_	Number=Sing	2	nsubj	_	_
2	sold	sell	VERB	_	VerbForm=Fin	0	root	_	_
3	it	it	PRON	_	Number=Sing|Person=3	2	obj	_	SpaceAfter=No
4	.	.	PUNCT	_	_	2	punct	_	_
"""


def test_a_pair_of_data_files_alone(tmp_path: Path) -> None:
    """English–Spanish has no code of its own; annotation is ready CoNLL-U."""
    documents = []
    for code, text, lines in (
        ("en", ENGLISH, ["I bought the table.", "Juan sold it."]),
        ("es", SPANISH, ["Compré la mesa.", "Juan la vendió."]),
    ):
        path = tmp_path / f"{code}.conllu"
        path.write_text(text + "\n", encoding="utf-8")
        documents += load_annotator(f"conllu:{path}", code).annotate([lines])
    pair = AnnotatedPair("a", *documents, (((1, 0), (2, 1), (3, 2)), ((0, 0), (1, 2), (2, 1))))
    (mined,) = Pronouns("en", "es", confidence=0).extract(pair, Counter())
    assert (mined.label, mined.right, mined.wrong) == ("la", "Juan la vendió.", ("Juan lo vendió.",))
    assert (mined.tags["source_antecedent"], mined.tags["target_antecedent"]) == ("the table", "la mesa")


def test_it_is_found_by_its_name() -> None:
    from anaphora.build.mine.phenomenon import load_phenomenon

    assert load_phenomenon("pronouns", ("en", "de"), {"confidence": 0.9}).settings()["confidence"] == 0.9
    with pytest.raises(AnaphoraError, match="en-xx cannot be mined"):
        load_phenomenon("pronouns", ("en", "xx"), {})


def test_real_annotation(annotator: Callable[[str], Any]) -> None:
    english = ["My sister bought a lamp.", "It stood beside the table, and it was expensive."]
    german = ["Meine Schwester kaufte eine Lampe.", "Sie stand neben dem Tisch, und sie war teuer."]
    (source,), (target,) = annotator("en").annotate([english]), annotator("de").annotate([german])
    alignments = tuple(
        tuple((i, i) for i in range(min(len(ours), len(theirs))))
        for ours, theirs in zip(source.sentences, target.sentences, strict=True)
    )
    pair = AnnotatedPair("a", source, target, alignments)
    actual = list(Pronouns("en", "de").extract(pair, Counter()))
    assert [mined.wrong[0] for mined in actual] == [
        "Er stand neben dem Tisch, und sie war teuer.",
        "Sie stand neben dem Tisch, und er war teuer.",
    ]
    assert {mined.tags["target_antecedent"] for mined in actual} == {"eine Lampe"}


# Data of language pairs.


def test_there_are_three_pairs() -> None:
    assert names_with("mining") == ["en-de", "en-es", "en-fr"]


@pytest.mark.parametrize("name", names_with("mining"))
def test_each_data_file(name: str) -> None:
    source, target = name.split("-")
    data = pair_data(source, target)
    assert (data.source, data.target) == (source, target)
    assert data.swap in SWAPS
    known = language(target)
    forms = {form for word in {*data.translations, *data.oblique} for form in data.targets(word, oblique=True)}
    assert {*data.translations, *data.oblique} <= {*language(source).pronouns, *language(source).plurals}
    assert data.clausal | data.source_only <= forms
    assert forms <= {*known.pronouns, *known.plurals}
    for number in ("", *([".Plur"] if known.plurals else [])):
        assert data.labels[f"Masc{number}"] != data.labels[f"Fem{number}"]


def test_english_german() -> None:
    data = pair_data("en", "de")
    assert data.targets("it", oblique=False) == {"er", "sie", "es"}
    assert data.targets("it", oblique=True) == {"er", "sie", "es", "ihn", "ihm", "ihr"}
    assert data.targets("he", oblique=True) == frozenset()
    assert [data.labels[gender] for gender in ("Masc", "Fem", "Neut")] == ["er", "sie", "es"]


def test_an_unknown_pair() -> None:
    with pytest.raises(AnaphoraError, match=r"pronouns of en-xx cannot be mined.*Known: en-de, en-es, en-fr"):
        pair_data("en", "xx")
