"""DiaBLa: sentences of bilingual dialogues with a human and a machine translation, which was judged."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.download import extract
from anaphora.suites.readers.diabla import read
from anaphora.suites.validate import validate_suite


def turn(language: str, original: str, reference: str, output: str, judgment: str | None = "perfect") -> dict[str, Any]:
    evaluation = {"judgment": judgment, "problems": ["coherence"]} if judgment else {}
    texts = {"original_text": original, "reference_translation": reference, "postprocessed_text": output}
    return {"language": language, "eval": evaluation, **texts}


TURNS = [
    turn("english", "The lift stopped.", "L'ascenseur s'est arrêté.", "L'ascenseur s'est arrêté."),
    turn("french", "Il est vieux.", "It is old.", "He is old.", "poor"),
    turn("english", "It is.", "C'est vrai.", "Il est.", "medium"),
    turn("english", "Call\nher.", "Appelez-la.", "Appelle-la."),
    turn("english", "Now.", "Maintenant.", "Tout de suite.", None),
]


def written(folder: Path, turns: list[Any] = TURNS) -> Path:
    dialogue = {"translation_model": "2to2", "utterances": {str(k): one for k, one in enumerate(turns)}}
    (folder / "one.json").write_text(json.dumps(dialogue, ensure_ascii=False), encoding="utf-8")
    return folder


def test_the_human_translation_is_right_where_the_machine_is_faulty(tmp_path: Path) -> None:
    suite = read(written(tmp_path), context=2)
    third = list(suite)[1]
    assert third.id == "one/2"
    assert third.source == ("The lift stopped.", "It is old.", "It is.")  # the French turn in its human translation
    context = ("L'ascenseur s'est arrêté.", "Il est vieux.")
    assert third.candidates == ((*context, "C'est vrai."), (*context, "Il est."))
    assert third.gold == 0
    assert third.tags == {
        "dialogue": "one",
        "sentence": 2,
        "system": "2to2",
        "judgment": "medium",
        "problems": ["coherence"],
    }
    assert list(validate_suite(suite)) == []


def test_what_is_perfect_or_not_judged_has_no_gold(tmp_path: Path) -> None:
    first, _, perfect, unjudged = read(written(tmp_path), context=1)
    assert first.source == ("", "The lift stopped.")
    assert (len(first.candidates), first.gold) == (1, None)  # both translations are the same
    assert (len(perfect.candidates), perfect.gold, perfect.source[-1]) == (2, None, "Call her.")
    assert (unjudged.gold, "judgment" in unjudged.tags) == (None, False)


def test_the_other_direction(tmp_path: Path) -> None:
    suite = read(written(tmp_path) / "one.json", target_language="en", context=0)
    (only,) = suite
    assert (only.source, only.candidates) == (("Il est vieux.",), (("It is old.",), ("He is old.",)))
    assert suite.header.languages == "fr-en"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"language": "german"}, "utterance 0: the language 'german'"),
        ({"eval": {"judgment": "fine"}}, "utterance 0: the judgment 'fine'"),
        ({"eval": None}, "'eval' must be"),
        ({"original_text": 3}, "'original_text' must be"),
    ],
)
def test_another_shape_is_an_error(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=rf"one\.json: .*{problem}"):
        list(read(written(tmp_path, [TURNS[0] | change])))


def test_a_folder_without_dialogues_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there are no dialogues .* Name the folder DiaBLa-corpus/dialogues"):
        read(tmp_path)
    with pytest.raises(BadInput, match="no translations into 'de'"):
        read(tmp_path, target_language="de")


def test_the_real_corpus(data, tmp_path: Path) -> None:
    """Counted with grep: 5,748 sentences, of which 10 are not judged; the paper's 144 dialogues."""
    zstandard = pytest.importorskip("zstandard")
    plain = tmp_path / "archive.tar"
    with (data("diabla-en-fr") / "diabla_dialogues.tar.zst").open("rb") as stream, plain.open("wb") as out:
        zstandard.ZstdDecompressor().copy_stream(stream, out)
    extract(plain, tmp_path)
    folder = tmp_path / "DiaBLa-corpus" / "dialogues"
    french, english = (list(read(folder, target_language=language)) for language in ("fr", "en"))
    assert (len(french), len(english)) == (2865, 2883)
    assert len({example.tags["dialogue"] for example in french}) == 144
    judgments = Counter(example.tags.get("judgment") for example in french)
    assert judgments == {"perfect": 1700, "medium": 925, "poor": 235, None: 5}
    # where the machine's translation is that of the reference, nothing is to choose, whatever its judgment
    assert sum(example.gold == 0 for example in french) == 1160 - sum(
        len(e.candidates) == 1 and e.tags.get("judgment") in ("medium", "poor") for e in french
    )
    assert list(validate_suite(read(folder))) == []
