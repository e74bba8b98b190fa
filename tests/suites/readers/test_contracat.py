"""ContraCAT's templates as released (Stojanovski et al. 2020): a folder per template with three lines per item, one
for each gender, and a file that says which is right. Some templates have no right answer: they measure priors."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.contracat import read, split_passage


def template(
    root: Path, path: str, *items: tuple[str, str, tuple[str, str, str], str], context: str = "Ein Test."
) -> Path:
    """Write a template: items of an English context, an English sentence, three German ones, and the gender."""
    folder = root / path
    folder.mkdir(parents=True)
    rows = [
        (f"{before} <SEP> {now}", f"{context} <SEP> {german}", gender)
        for before, now, three, gender in items
        for german in three
    ]
    for name, column in zip(("en", "de", "genders"), zip(*rows, strict=True), strict=True):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in column), encoding="utf-8")
    return folder


KNIFE = ("The fork fell.", "It is sharp.", ("Er ist spitz.", "Sie ist spitz.", "Es ist spitz."))


def test_three_lines_are_one_item_masculine_feminine_neuter(tmp_path: Path) -> None:
    root = template(tmp_path, "3_gender_step", (*KNIFE, "f"), (*KNIFE, "n"), context="Die Gabel fiel.")
    suite = read(root)
    assert (suite.header.name, suite.header.languages) == ("contracat", "en-de")
    first, second = suite
    assert first == Example(
        id="gender/0",
        source=("The fork fell.", "It is sharp."),
        candidates=(
            ("Die Gabel fiel.", "Er ist spitz."),
            ("Die Gabel fiel.", "Sie ist spitz."),
            ("Die Gabel fiel.", "Es ist spitz."),
        ),
        gold=1,
        tags={
            "template": "gender",
            "step": "language translation",
            "candidate_genders": ["m", "f", "n"],
            "reference_gender": "feminine",
        },
    )
    assert (second.id, second.gold, second.tags["reference_gender"]) == ("gender/1", 2, "neuter")


@pytest.mark.parametrize(
    ("path", "name", "step"),
    [
        ("0_priors/role", "prior/role", "priors"),
        ("0_priors/position", "prior/position", "priors"),
        ("0_priors/verb", "prior/verb", "priors"),
        ("1_entity_step", "markable", "markable detection"),
        ("2_coreference_step/overlap/verb_overlap", "overlap/verb", "coreference resolution"),
        ("2_coreference_step/overlap/object_overlap", "overlap/object", "coreference resolution"),
        ("2_coreference_step/overlap/subject_overlap", "overlap/subject", "coreference resolution"),
        ("2_coreference_step/overlap/object_verb_overlap", "overlap/object-verb", "coreference resolution"),
        ("2_coreference_step/overlap/subject_verb_overlap", "overlap/subject-verb", "coreference resolution"),
        ("2_coreference_step/world_knowledge", "world-knowledge", "coreference resolution"),
        ("2_coreference_step/event", "event", "coreference resolution"),
        ("2_coreference_step/pleonastic", "pleonastic", "coreference resolution"),
        ("3_gender_step", "gender", "language translation"),
    ],
)
def test_the_thirteen_templates_have_the_names_of_the_contract(tmp_path: Path, path: str, name: str, step: str) -> None:
    """INTERFACE, "Building"; the steps are those of the paper's §6."""
    gender = {"prior/role": "mf", "prior/position": "mf", "prior/verb": ""}.get(name, "m")
    template(tmp_path, path, (*KNIFE, gender))
    (example,) = read(tmp_path)
    assert (example.tags["template"], example.tags["step"]) == (name, step)
    assert example.id == f"{name}/0"


def test_a_folder_inside_a_template_is_its_variant(tmp_path: Path) -> None:
    template(tmp_path, "2_coreference_step/overlap/verb_overlap/eat_drink_eat", (*KNIFE, "m"))
    template(tmp_path, "2_coreference_step/overlap/verb_overlap/drink_eat_drink", (*KNIFE, "m"))
    assert [(example.id, example.tags["variant"]) for example in read(tmp_path)] == [
        ("overlap/verb/drink_eat_drink/0", "drink_eat_drink"),
        ("overlap/verb/eat_drink_eat/0", "eat_drink_eat"),
    ]


def test_the_release_a_step_or_a_template_can_be_named(tmp_path: Path) -> None:
    """And an item has the same id each time."""
    template(tmp_path, "templates/1_entity_step", (*KNIFE, "m"))
    template(tmp_path, "templates/2_coreference_step/event/surprise", (*KNIFE, "n"))
    template(tmp_path, "templates/2_coreference_step/world_knowledge", (*KNIFE, "m"))
    release = tmp_path / "templates"
    assert [e.id for e in read(release)] == ["markable/0", "event/surprise/0", "world-knowledge/0"]
    assert [e.id for e in read(release / "2_coreference_step")] == ["event/surprise/0", "world-knowledge/0"]
    assert [e.id for e in read(release / "2_coreference_step" / "event" / "surprise")] == ["event/surprise/0"]


def test_the_name_of_the_current_folder_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(template(tmp_path, "1_entity_step", (*KNIFE, "m")))
    assert [example.id for example in read(Path())] == ["markable/0"]


# priors


def test_the_role_prior_tags_candidates_as_subject_or_object(tmp_path: Path) -> None:
    template(tmp_path, "0_priors/role", (*KNIFE, "mf"), (*KNIFE, "nm"), (*KNIFE, "fn"))
    examples = list(read(tmp_path))
    assert [example.gold for example in examples] == [None] * 3
    assert [example.tags["choices"] for example in examples] == [
        ["subject", "object", "neither"],
        ["object", "neither", "subject"],
        ["neither", "subject", "object"],
    ]
    assert not any("reference_gender" in example.tags or "pair" in example.tags for example in examples)


def test_the_position_prior_pairs_the_two_orders_of_two_nouns(tmp_path: Path) -> None:
    """Not in our copy of the release: made up in its layout, `mf` is the first noun, then the second."""
    german = ("Er war groß.", "Sie war groß.", "Es war groß.")
    template(
        tmp_path,
        "0_priors/position",
        ("I stood in front of the fork and the knife.", "It was big.", german, "fn"),
        ("I stood in front of the spoon and the fork.", "It was big.", german, "mf"),
        ("I stood in front of the knife and the fork.", "It was big.", german, "nf"),
        ("I stood in front of the knife and the fork.", "It was small.", german, "nf"),
        ("I stood in front of the fork and the spoon.", "It was big.", german, "fm"),
    )
    examples = list(read(tmp_path))
    assert [example.tags["choices"] for example in examples] == [
        ["neither", "first", "second"],
        ["first", "second", "neither"],
        ["neither", "second", "first"],
        ["neither", "second", "first"],
        ["second", "first", "neither"],
    ]
    fork_knife, spoon_fork, knife_fork, small, fork_spoon = (example.tags["pair"] for example in examples)
    assert fork_knife == knife_fork
    assert spoon_fork == fork_spoon
    assert len({fork_knife, spoon_fork, small}) == 3
    assert {example.gold for example in examples} == {None}


def test_the_verb_prior_skips_blank_lines_and_counts_genders(tmp_path: Path) -> None:
    template(tmp_path, "0_priors/verb", ("Wow!", "I saw it.", ("Ich sah ihn.", "Ich sah sie.", "Ich sah es."), ""))
    (example,) = read(tmp_path)
    assert example.gold is None
    assert example.tags["choices"] == ["masculine", "feminine", "neuter"]


@pytest.mark.parametrize(
    ("path", "gender"),
    [
        ("0_priors/role", "m"),
        ("0_priors/role", ""),
        ("0_priors/role", "mfn"),
        ("0_priors/position", "mx"),
        ("0_priors/verb", "m"),
        ("0_priors/verb", "mf"),
        ("1_entity_step", ""),
        ("1_entity_step", "mf"),
        ("1_entity_step", "x"),
    ],
)
def test_genders_that_do_not_fit_the_template_are_an_error(tmp_path: Path, path: str, gender: str) -> None:
    good = {"0_priors/role": "mf", "0_priors/position": "mf", "0_priors/verb": ""}.get(path, "m")
    template(tmp_path, path, (*KNIFE, good), (*KNIFE, gender))
    with pytest.raises(BadInput, match=rf"genders\.txt: line 4: gender '{gender}' does not fit the template"):
        list(read(tmp_path))


# what is not as released


def change(folder: Path, name: str, line: int, text: str | None) -> None:
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    lines[line - 1 : line] = [] if text is None else [text]
    (folder / name).write_text("".join(f"{row}\n" for row in lines), encoding="utf-8")


@pytest.mark.parametrize(("name", "text"), [("en.txt", "Another. <SEP> It was."), ("genders.txt", "n")])
def test_lines_of_an_item_share_english_and_gender(tmp_path: Path, name: str, text: str) -> None:
    folder = template(tmp_path, "1_entity_step", (*KNIFE, "m"), (*KNIFE, "m"))
    change(folder, name, 5, text)
    with pytest.raises(BadInput, match=r"en\.txt: line 4: the three lines of an item must share"):
        list(read(folder))


@pytest.mark.parametrize("name", ["en.txt", "de.txt", "genders.txt"])
def test_a_lost_line_is_an_error(tmp_path: Path, name: str) -> None:
    folder = template(tmp_path, "1_entity_step", (*KNIFE, "m"), (*KNIFE, "m"))
    change(folder, name, 6, None)
    with pytest.raises(BadInput, match=rf"{name}: 5 lines, but |but .*{name} has 5"):
        list(read(folder))


def test_lines_that_are_no_multiple_of_three_are_an_error(tmp_path: Path) -> None:
    folder = template(tmp_path, "1_entity_step", (*KNIFE, "m"), (*KNIFE, "m"))
    for name in ("en.txt", "de.txt", "genders.txt"):
        change(folder, name, 6, None)
    with pytest.raises(BadInput, match=r"en\.txt: line 5: 5 lines are not a multiple of 3"):
        list(read(folder))


def test_a_missing_genders_file_is_named(tmp_path: Path) -> None:
    folder = template(tmp_path, "1_entity_step", (*KNIFE, "m"))
    (folder / "genders.txt").unlink()
    with pytest.raises(BadInput, match=r"genders\.txt \(or genders\.txt\.gz\) is missing here"):
        list(read(folder))


def test_a_folder_that_is_no_template_lists_the_templates(tmp_path: Path) -> None:
    folder = template(tmp_path, "my_own_step", (*KNIFE, "m"))
    with pytest.raises(BadInput, match=r"my_own_step: not a template of the release\. Known folders: 0_priors/role, "):
        list(read(folder))


def test_a_folder_without_templates_says_what_to_name(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BadInput, match=r"no subfolder has en\.txt and de\.txt\. Name the release's"):
            read(path)


def test_sentences_are_split_at_a_mark_with_any_spaces() -> None:
    assert split_passage("One. <SEP> Two.") == ("One.", "Two.")
    assert split_passage("One. <SEP>  Two.") == ("One.", "Two.")
    assert split_passage("One<SEP>... two") == ("One", "... two")
    assert split_passage("<SEP> Two.") == ("", "Two.")
    assert split_passage("One alone.") == ("One alone.",)


# the real release, as far as it is here; the counts are those of data/contracat/README.md, "Settings"

COUNTS = {
    ("prior/role", None): 1_000,
    ("prior/verb", None): 700,
    ("markable", None): 2_560,
    ("overlap/verb", "drink_eat_drink"): 560,
    ("overlap/verb", "eat_drink_eat"): 560,
    ("overlap/object-verb", "eat_drink_eat"): 2_688,
    ("overlap/subject", "eat_drink_drink"): 2_496,
    ("world-knowledge", None): 2_500,
    ("event", "surprise"): 375,
    ("pleonastic", "rain"): 375,
}


@pytest.fixture(scope="module")
def examples(data) -> list[Example]:
    return list(read(data("contracat/templates")))


def test_the_release_has_as_many_items_as_it_says(examples: list[Example]) -> None:
    assert Counter((e.tags["template"], e.tags.get("variant")) for e in examples) == COUNTS
    assert len({example.id for example in examples}) == sum(COUNTS.values())


def test_every_item_has_one_sentence_of_context_and_three_candidates(examples: list[Example]) -> None:
    assert {len(e.source) for e in examples} == {2}
    assert {tuple(len(c) for c in e.candidates) for e in examples} == {(2, 2, 2)}


def test_candidates_are_in_the_order_of_the_genders(examples: list[Example]) -> None:
    pronouns = [{"er", "ihn"}, {"sie"}, {"es"}]
    for example in examples:
        words = [{*c[1].lower().replace(".", " ").replace("?", " ").split()} for c in example.candidates]
        assert all(words[k] & pronouns[k] for k in range(3)), example


def test_the_gold_is_the_gender_of_the_release(examples: list[Example], data) -> None:
    by_template: dict[Any, list[Example]] = {}
    for example in examples:
        by_template.setdefault((example.tags["template"], example.tags.get("variant")), []).append(example)
    places = {
        ("markable", None): "1_entity_step",
        ("world-knowledge", None): "2_coreference_step/world_knowledge",
        ("pleonastic", "rain"): "2_coreference_step/pleonastic/rain",
        ("overlap/subject", "eat_drink_drink"): "2_coreference_step/overlap/subject_overlap/eat_drink_drink",
    }
    for key, position in places.items():
        packed = (data("contracat/templates") / position / "genders.txt.gz").read_bytes()
        genders = gzip.decompress(packed).decode().split()[::3]
        assert ["mfn"[e.gold] if e.gold is not None else None for e in by_template[key]] == genders


def test_what_it_rains_is_neuter(examples: list[Example]) -> None:
    """Events and pleonastic *it* are always "es" (§6.3)."""
    for name in ("event", "pleonastic"):
        assert {e.tags["reference_gender"] for e in examples if e.tags["template"] == name} == {"neuter"}


def test_priors_have_no_gold_and_others_have_one(examples: list[Example]) -> None:
    for example in examples:
        prior = example.tags["step"] == "priors"
        assert (example.gold is None) is prior
        assert ("choices" in example.tags) is prior


def test_the_role_prior_names_two_entities_of_different_gender(examples: list[Example]) -> None:
    for example in examples:
        if example.tags["template"] == "prior/role":
            assert sorted(example.tags["choices"]) == ["neither", "object", "subject"]  # type: ignore[type-var]
