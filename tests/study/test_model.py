"""study.json and links.json: a round trip, who may read them, and what is refused. Nothing is overwritten."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.study.model import Study, read_links, read_study, write_study

Make = Callable[..., Study]


@pytest.fixture
def folder(make: Make, tmp_path: Path) -> Path:
    write_study(make(), tmp_path / "study")
    return tmp_path / "study"


def test_round_trip(make: Make, make_gaps: Make, tmp_path: Path) -> None:
    for name, study in {"pairs": make(overlap=2), "gaps": make_gaps()}.items():
        write_study(study, tmp_path / name)
        assert read_study(tmp_path / name) == study


def test_only_the_owner_can_look(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "study.json": 0o600,
        "links.json": 0o600,
    }


def test_links_cannot_be_guessed_and_are_not_in_the_study(folder: Path) -> None:
    admin, tokens = read_links(folder, read_study(folder))
    every = [admin, *tokens.values()]
    assert set(tokens) == {"anna", "ben", "carla"}
    assert len(set(every)) == 4
    assert all(len(token) >= 32 for token in every)  # 32 letters of 64: 192 bits
    text = (folder / "study.json").read_text(encoding="utf-8")
    assert not any(token in text for token in every)


def test_nothing_is_overwritten(make: Make, folder: Path, tmp_path: Path) -> None:
    before = (folder / "study.json").read_bytes()
    with pytest.raises(BadInput, match="already exists"):
        write_study(make(), folder)
    assert (folder / "study.json").read_bytes() == before
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="already exists"):
        write_study(make(), tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "pairs.jsonl", "study"]  # no half of a study


def test_an_empty_folder_will_do(make: Make, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_study(make(), tmp_path / "empty")
    assert read_study(tmp_path / "empty").mode == "pairs"


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "study.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_a_study_of_the_first_version(make: Make, folder: Path) -> None:
    assert read_study(folder).blind
    changed(folder, lambda d: d.update(anaphora_study=1))
    study = read_study(folder)
    assert not study.blind
    assert [item.id for item in study.items] == [f"p{k}" for k in range(6)]
    write_study(study, folder.parent / "copy")
    assert read_study(folder.parent / "copy") == study


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(anaphora_study=4), "study format version 4, this program reads up to 3. Upgrade"),
        (lambda d: d.pop("anaphora_study"), "not a study"),
        (lambda d: d.pop("items"), "'items' is missing"),
        (lambda d: d.update(overlap="2"), "'overlap' is not of the type int"),
        (lambda d: d.update(mode="triples"), "unknown mode 'triples'"),
        (lambda d: d["items"][1].pop("candidates"), r"item 2 \(p1\) is broken: 'candidates'"),
        (lambda d: d["items"][1].update(gold=2), r"item 2 \(p1\) is broken: marks or gold"),
        (lambda d: d["items"][1].update(source="text"), r"item 2 \(p1\) is broken: a passage is a list"),
        (lambda d: d["items"][1]["marks"][0].append([5, 999]), r"item 2 \(p1\) is broken: marks outside"),
        (lambda d: d["items"][1].update(id="p0"), "the id 'p0' occurs twice"),
        (lambda d: d["items"][1]["candidates"].pop(), r"item 2 \(p1\) is broken: marks or gold"),
        (lambda d: d["annotators"][1].update(name="anna"), "the annotator 'anna' occurs twice"),
        (
            lambda d: d["annotators"][0]["items"].append(["nothing", [0, 1]]),
            "'nothing' of anna is not an item",
        ),
        (lambda d: d["annotators"][0]["items"][0].pop(), "annotator 1 is broken"),
        (lambda d: d["items"].__setitem__(0, None), "item 1 is broken"),
    ],
)
def test_broken_studies(folder: Path, change: Callable[[dict[str, Any]], object], message: str) -> None:
    changed(folder, change)
    with pytest.raises(BadInput, match=message) as refusal:
        read_study(folder)
    assert "\n" not in str(refusal.value)


def test_what_is_no_study(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        read_study(tmp_path / "nothing")
    with pytest.raises(BadInput, match=r"study\.json is missing"):
        read_study(tmp_path)
    exported = tmp_path / "answers.jsonl"
    exported.touch()
    with pytest.raises(BadInput, match=r"answers\.jsonl: a file, and not the folder of a study"):
        read_study(exported)
    (folder / "study.json").write_text('{"anaphora_study": 1,', encoding="utf-8")
    with pytest.raises(BadInput, match=r"line 1: not JSON: .* Restore the file from a copy"):
        read_study(folder)


def test_links_of_another_study(make: Make, folder: Path, tmp_path: Path) -> None:
    write_study(make(), tmp_path / "other")
    (folder / "links.json").write_bytes((tmp_path / "other" / "links.json").read_bytes())
    with pytest.raises(BadInput, match="links belong to another study"):
        read_links(folder, read_study(folder))
    (folder / "links.json").write_text("[]")
    with pytest.raises(BadInput, match="not the links of a study"):
        read_links(folder, read_study(folder))


def test_a_link_that_could_be_guessed(folder: Path) -> None:
    path = folder / "links.json"
    links = json.loads(path.read_text(encoding="utf-8"))
    links["annotators"]["anna"] = "anna"
    path.write_text(json.dumps(links), encoding="utf-8")
    with pytest.raises(BadInput, match="could be guessed"):
        read_links(folder, read_study(folder))
