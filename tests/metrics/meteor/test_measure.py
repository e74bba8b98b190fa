"""METEOR of texts: tokens and case, function words from the reference or a corpus, parameters, pronouns by language."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.measures import Measured, Texts, measure
from anaphora.metrics.meteor import wordnet
from anaphora.metrics.meteor.measure import meteor, meteor_pronouns
from anaphora.metrics.meteor.metric import Meteor, function_words, matchers_for
from anaphora.stats.intervals import Resampling

pytest.importorskip("snowballstemmer", reason="the stems need the extra metrics")
pytest.importorskip("sacremoses", reason="the tokeniser needs the extra metrics")

REFERENCE = ["C'est une pomme.", "Elle est verte, mais il la mange."]
SYSTEM = ["c'est la Pomme.", "Il est vert, mais il les mange."]


def texts(**settings: object) -> Texts:
    return Texts(REFERENCE, {"a": SYSTEM}, languages=("en", "fr"), **settings)  # type: ignore[arg-type]


def value(measured: Measured) -> float:
    return measured.sums["a"].values()["score"]


def test_texts_are_tokenised_and_put_into_lower_case() -> None:
    hypothesis = [["c'", "est", "la", "pomme", "."], ["il", "est", "vert", ",", "mais", "il", "les", "mange", "."]]
    reference = [["c'", "est", "une", "pomme", "."], ["elle", "est", "verte", ",", "mais", "il", "la", "mange", "."]]
    scorer = Meteor(matchers_for("fr"), function_words(reference))
    assert value(meteor(texts())) == pytest.approx(scorer.sums(hypothesis, reference).values()["score"])
    assert meteor(texts()).signature.startswith(
        "METEOR|nrefs:1|abgd:0.7,1.4,0.3,0.7|match:exact:1,stem:0.6,synonym:off|fw:reference(12)|tok:moses|norm:signs"
        "|case:lc|version:"
    )


def test_tokenised_texts_are_divided_by_spaces() -> None:
    found = meteor(Texts(["c' est lui ."], {"a": ["C' est lui."]}, languages=("en", "fr"), tokenize="none"))
    assert "tok:none" in found.signature
    scorer = Meteor(matchers_for("fr"), frozenset(["c'", "est", "lui", "."]))
    assert value(found) == pytest.approx(scorer.score(["c'", "est", "lui."], ["c'", "est", "lui", "."]))


def test_function_words_come_from_a_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "large.fr"
    corpus.write_text("".join(f"il mot{k}a mot{k}b\n" for k in range(700)), encoding="utf-8")
    found = meteor(texts(), corpus=corpus)
    assert "|fw:large.fr(1)|" in found.signature
    assert value(found) != pytest.approx(value(meteor(texts())))


def test_pronouns_of_the_language() -> None:
    """Of c', elle and il the hypothesis has c' and il, and one il too many; la and les are none of the shared tasks.

    All matches make the chunks: c' est | pomme . and est vert(e) , mais il | mange .
    """
    found = meteor_pronouns(texts())
    assert "|abgd:0.7,1.4,0.3,0|" in found.signature
    assert "fw:il,elle,ils,elles,ce,c',on,cela,ça,ca,ç',ça/cela|" in found.signature
    assert value(found) == pytest.approx((1 - 0.3 * (4 / 11) ** 1.4) * 2 / 3)


def test_pronouns_by_name_with_any_apostrophe() -> None:
    for sign in ("'", "’", "&apos;"):
        tokenised = Texts([f"c{sign} est"], {"a": [f"c{sign} est"]}, languages=("en", "fr"), tokenize="none")
        assert value(meteor_pronouns(tokenised, pronouns=["c'"])) == 1
    assert value(meteor_pronouns(tokenised, pronouns=["il"])) == 0


def test_pronouns_of_a_language_that_is_not_known() -> None:
    czech = Texts(["ono"], {"a": ["ono"]}, languages=("en", "cs"))
    with pytest.raises(AnaphoraError, match=r"pronouns of 'cs' are not known \(known: de, en, fr\): .*--pronouns"):
        meteor_pronouns(czech)
    assert value(meteor_pronouns(czech, pronouns=["ono"])) == 1


def test_parameters() -> None:
    assert "abgd:0.9,1.4,0.6,0.65|match:exact:1,stem:0.2|" in meteor(texts(), parameters="ranking").signature
    with pytest.raises(AnaphoraError, match="unknown parameters 'best'"):
        meteor(texts(), parameters="best")
    italian = Texts(["a"], {"a": ["a"]}, languages=("en", "it"), tokenize="none")
    with pytest.raises(AnaphoraError, match="no ranking parameters for 'it', only for cs, de, en"):
        meteor(italian, parameters="ranking")


def test_synonyms_only_where_there_is_a_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANAPHORA_WORDNET", raising=False)
    monkeypatch.setattr(wordnet, "STANDARD_PLACE", tmp_path / "nowhere")
    english = Texts(["car"], {"a": ["automobile"]}, languages=("fr", "en"))
    assert "synonym:off" in meteor(english).signature
    for part in wordnet.PARTS:
        text = "car n 1 0 1 0 7\nautomobile n 1 0 1 0 7\n" if part == "noun" else ""
        (tmp_path / f"index.{part}").write_text(text)
        (tmp_path / f"{part}.exc").write_text("")
    found = meteor(english, wordnet=tmp_path)
    assert "synonym:0.8" in found.signature
    assert value(found) == pytest.approx(0.8)
    assert meteor(texts(), wordnet=tmp_path / "nowhere").sums  # of no use for French, and not looked for


def test_of_several_references_the_best_counts() -> None:
    other = ["c'est la pomme.", "Rien."]
    two = Texts(REFERENCE, {"a": SYSTEM}, languages=("en", "fr"), more_references=(other,))
    hypothesis = [["c'", "est", "la", "pomme", "."], ["il", "est", "vert", ",", "mais", "il", "les", "mange", "."]]
    best = [hypothesis[0], ["elle", "est", "verte", ",", "mais", "il", "la", "mange", "."]]
    frequent = function_words([*two.words["reference"].sentences, *two.words["reference 2"].sentences])
    scorer = Meteor(matchers_for("fr"), frequent)
    assert value(meteor(two)) == pytest.approx(scorer.sums(hypothesis, best).values()["score"])
    assert meteor(two).signature.startswith("METEOR|nrefs:2|")
    assert value(meteor_pronouns(two)) > value(meteor_pronouns(texts()))


def test_copies_with_other_signs_have_the_same_score() -> None:
    for sign in ("’", "ʼ", "＇", "&apos;", "&#39;"):
        copy = Texts(REFERENCE, {"a": [line.replace("'", sign) for line in SYSTEM]}, languages=("en", "fr"))
        for metric in (meteor, meteor_pronouns):
            assert value(metric(copy)) == value(metric(texts()))


def test_plain_text_needs_a_language() -> None:
    with pytest.raises(AnaphoraError, match="depend on the language: say which, for example -l en-fr"):
        measure(Texts(["a, b."], {"a": ["a, b."]}), ["meteor"], resampling=Resampling(100))
