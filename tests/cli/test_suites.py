"""`anaphora suites`: list, show, get, convert and validate, on a suite of our own and on the real data of the field."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
Data = Callable[[str], Path]


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a suite file: the header, then the examples."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.decode().splitlines()]


def candidates(examples: list[dict[str, Any]]) -> int:
    return sum(len(example["candidates"]) for example in examples)


# ------------------------------------------------------------------------------------------------ list, show


def test_list_shows_the_published_suites(anaphora: Run, as_json: Callable[..., Any]) -> None:
    listed = {row["name"]: row for row in as_json("suites", "list")}
    assert {"contrapro", "contrapro-rebuilt", "bawden-coreference", "lopes-en-fr-3", "scat"} <= set(listed)
    contrapro = listed["contrapro"]
    assert (contrapro["source_language"], contrapro["target_language"], contrapro["examples"]) == ("en", "de", 12_000)
    assert contrapro["here"] is False
    table = anaphora("suites", "list").stdout
    for name in listed:
        assert f"\n{name} " in table
    assert "anaphora suites get NAME" in table


@pytest.mark.parametrize(("format", "sign"), [("markdown", "| contrapro |"), ("tsv", "\tcontrapro\ten-de")])
def test_list_in_other_formats(anaphora: Run, format: str, sign: str) -> None:
    assert sign in anaphora("suites", "list", "--format", format).stdout


def test_list_as_latex_escapes_what_latex_needs(anaphora: Run) -> None:
    text = anaphora("suites", "list", "--format", "latex").stdout
    assert text.startswith("\\begin{table}")
    assert "contrapro-rebuilt & en-de & 12,000" in text


def test_show_a_published_suite(anaphora: Run, as_json: Callable[..., Any]) -> None:
    facts = as_json("suites", "show", "contrapro")
    assert (facts["examples"], facts["candidates"], facts["languages"]) == (12_000, 36_031, "en-de")
    assert facts["licence"].startswith("MIT")
    assert facts["citation"].startswith("@inproceedings{")
    text = anaphora("suites", "show", "contrapro").stdout
    assert "12,000" in text
    assert "36,031" in text
    assert facts["citation"].strip() in text


def test_show_a_suite_file(anaphora: Run, as_json: Callable[..., Any], suite: Path) -> None:
    facts = as_json("suites", "show", suite)
    assert (facts["name"], facts["examples"], facts["candidates"]) == ("small", 6, 13)
    assert facts["breakdowns"] == ["pronoun"]
    assert facts["tags"] == ["distance", "document", "pronoun"]
    assert facts["licence"] == "CC0"
    assert len(facts["sha256"]) == 64
    output = anaphora("suites", "show", suite)
    assert output.stdout.rstrip().endswith("@misc{small}")
    assert facts["sha256"] in output.stdout
    assert f"anaphora suites baselines {suite} --keep" in output.stderr


def test_show_baselines_that_are_kept(anaphora: Run, suite: Path) -> None:
    anaphora("suites", "baselines", suite, "--keep")
    output = anaphora("suites", "show", suite)
    assert "bag of words: current sentence" in output.stdout
    assert "--keep" not in output.stderr


@pytest.mark.parametrize("command", ["show", "get"])
def test_a_name_not_in_the_catalog(refused: Refused, command: str) -> None:
    message = refused("suites", command, "contrapo")
    assert "'contrapo' (did you mean contrapro" in message
    assert "anaphora suites list" in message


# ------------------------------------------------------------------------------------------------------- get


def test_get_from_a_local_copy(anaphora: Run, as_json: Callable[..., Any], data: Data, tmp_path: Path) -> None:
    folder = data("disceval-en-fr")
    got = as_json("suites", "get", "bawden-coreference", "--from-path", folder)
    path = Path(got["path"])
    assert path.is_relative_to(tmp_path / "home")
    assert got == {"name": "bawden-coreference", "path": str(path), "already_here": False}
    assert rows(path)[0]["name"] == "bawden-coreference"
    here = {row["name"]: row["here"] for row in as_json("suites", "list")}
    assert [name for name, is_here in here.items() if is_here] == ["bawden-coreference"]
    shown = as_json("suites", "show", "bawden-coreference")
    assert (shown["path"], shown["breakdowns"]) == (str(path), ["form", "correctness"])
    # from now on the name will do: for get itself (nothing is fetched again), and wherever a suite is named
    assert as_json("suites", "get", "bawden-coreference") == {**got, "already_here": True}
    message = anaphora("suites", "get", "bawden-coreference", "--from-path", folder).stderr
    assert "already exists and is the same as the copy; --force replaces it" in message
    assert as_json("suites", "get", "bawden-coreference", "--force") == got
    assert as_json("suites", "validate", "bawden-coreference")["valid"] is True
    (tmp_path / "constant").write_text("0\n" * 400)
    result = as_json("evaluate", "bawden-coreference", "--scores", "constant")
    assert (result["total"], result["correct"], result["ties"]) == (200, 0, 200)
    anaphora("suites", "convert", "bawden-coreference", "--to", "text", "-o", "lines")
    assert len((tmp_path / "lines" / "bawden-coreference.text.fr").read_text(encoding="utf-8").splitlines()) == 400


def test_get_takes_the_file_itself_gzipped(as_json: Callable[..., Any], data: Data, tmp_path: Path) -> None:
    copy = tmp_path / "any-name.gz"
    copy.write_bytes(gzip.compress((data("disceval-en-fr") / "anaphora.json").read_bytes()))
    path = Path(as_json("suites", "get", "bawden-coreference", "--from-path", copy)["path"])
    assert len(rows(path)) == 201


def test_get_refuses_changed_bytes(refused: Refused, as_json: Callable[..., Any], data: Data, tmp_path: Path) -> None:
    changed = tmp_path / "anaphora.json"
    changed.write_bytes((data("disceval-en-fr") / "anaphora.json").read_bytes() + b" ")
    message = refused("suites", "get", "bawden-coreference", "--from-path", changed)
    assert str(changed) in message
    assert "SHA-256" in message
    assert not any(row["here"] for row in as_json("suites", "list"))


def test_get_from_a_folder_without_the_files(refused: Refused, tmp_path: Path) -> None:
    assert "no such file or folder" in refused("suites", "get", "scat", "--from-path", "nowhere")
    message = refused("suites", "get", "bawden-coreference", "--from-path", tmp_path)
    assert "anaphora.json" in message
    assert "missing" in message


def test_get_says_what_to_do_where_nothing_is_published(refused: Refused) -> None:
    message = refused("suites", "get", "contrapro-rebuilt")
    assert "anaphora suites get contrapro-rebuilt --from-path PATH" in message


# --------------------------------------------------------------------------------- convert: the real formats

FORMATS = [
    # folder of the data, input in it, format, options, name, languages, examples, candidates, sentences, breakdown
    ("contrapro", "", "contrapro-rebuilt", [], "contrapro-rebuilt", "en-de", 12_000, 36_031, 2, "reference_pronoun"),
    ("contracat", "templates", "contracat", [], "contracat", "en-de", 13_814, 41_442, 2, "template"),
    (
        *("contracat", "attacks/synonyms", "contracat-attack", [], "contracat-synonyms", "en-de"),
        *(1_531, 4_593, 2, "reference_pronoun"),
    ),
    ("disceval-en-fr", "anaphora.json", "disceval", [], "bawden-coreference", "en-fr", 200, 400, 2, "form"),
    ("disceval-en-fr", "lexical-choice.json", "disceval", [], "bawden-cohesion", "en-fr", 200, 400, 2, "kind"),
    ("disceval-en-cs", "disambig.cs.json", "disceval", [], "bawden-cohesion-cs", "en-cs", 150, 300, 2, "kind"),
    (
        *("lopes-en-fr", "", "lopes", ["--limit", "1000"], "lopes-en-fr-3", "en-fr"),
        *(1_000, 2_000, 4, "reference_pronoun"),
    ),
    (
        *("lopes-en-fr", "", "lopes", ["--context", "1", "--limit", "1000"], "lopes-en-fr-1", "en-fr"),
        *(1_000, 2_000, 2, "reference_pronoun"),
    ),
    ("voita-en-ru", "deixis_dev.json.gz", "voita", [], "voita-deixis-dev", "en-ru", 500, 1_000, 4, "distance"),
    ("scat-en-fr", "", "scat", ["--split", "test"], "scat-test", "en-fr", 1_000, 2_000, 2, "reference_pronoun"),
    (
        *("eval-anaphora", "test_data_german.jsonl.gz", "eval-anaphora", [], "eval-anaphora-de", "de-en"),
        *(500, 1_000, None, "reference_pronoun"),
    ),
]


@pytest.mark.parametrize(
    ("folder", "inside", "format", "options", "name", "languages", "total", "lines", "sentences", "breakdown"),
    FORMATS,
    ids=[f"{row[2]}-{row[4]}" for row in FORMATS],
)
def test_every_published_format_becomes_a_suite(
    as_json: Callable[..., Any],
    data: Data,
    tmp_path: Path,
    folder: str,
    inside: str,
    format: str,
    options: list[str],
    name: str,
    languages: str,
    total: int,
    lines: int,
    sentences: int | None,
    breakdown: str,
) -> None:
    done = as_json("suites", "convert", data(folder) / inside, "--from", format, *options, "-o", "out.jsonl")
    header, *examples = rows(tmp_path / "out.jsonl")
    assert (done["suite"], done["path"]) == (name, "out.jsonl")
    assert (header["anaphora"], header["name"]) == (1, name)
    assert f"{header['source_language']}-{header['target_language']}" == languages
    assert header["citation"].startswith("@inproceedings{")
    assert header["licence"]
    assert (len(examples), candidates(examples)) == (total, lines)
    assert all(set(example) == {"id", "source", "candidates", "gold", "tags"} for example in examples)
    if sentences is not None:
        assert {len(example["source"]) for example in examples} == {sentences}
    assert breakdown in header["breakdowns"]
    assert sum(breakdown in example["tags"] for example in examples) > 0.9 * total
    # any scores give figures; the first candidate as the best of each is right where it is the gold
    with (tmp_path / "scores").open("w") as out:
        for example in examples:
            out.writelines(f"{-k}\n" for k in range(len(example["candidates"])))
    result = as_json("evaluate", "out.jsonl", "--scores", "scores")
    with_gold = [example for example in examples if example["gold"] is not None]
    assert result["total"] == len(with_gold)
    assert result["correct"] == sum(example["gold"] == 0 for example in with_gold)
    assert result["ties"] == 0
    assert breakdown in result["breakdowns"]
    assert done["sha256"] == result["sha256"]


@pytest.mark.parametrize(
    ("folder", "inside", "format"),
    [
        ("contracat", "attacks/synonyms", "contracat-attack"),
        ("scat-en-fr", "", "scat"),
        ("eval-anaphora", "test_data_russian.jsonl.gz", "eval-anaphora"),
    ],
)
def test_published_sets_are_valid_as_they_are(
    as_json: Callable[..., Any], data: Data, folder: str, inside: str, format: str
) -> None:
    assert as_json("suites", "validate", data(folder) / inside, "--from", format) == {"valid": True, "problems": []}


def test_published_items_that_no_system_can_win_are_found(anaphora: Run, data: Data) -> None:
    done = anaphora("suites", "validate", data("voita-en-ru") / "ellipsis_infl.json.gz", "--from", "voita", check=2)
    problems = done.stdout.splitlines()
    assert all("ellipsis_infl/" in line and line.endswith("do not differ") for line in problems)
    assert len({line.partition("example ")[2].partition(":")[0] for line in problems}) == 13


def test_contrapro_as_released_with_its_documents(as_json: Callable[..., Any], data: Data, tmp_path: Path) -> None:
    """`contrapro.json` itself is not among the data, but 4,272 of its records are: a file of them, and documents."""
    with gzip.open(data("contrapro") / "contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [row["contrapro"] for row in map(json.loads, lines) if "errors" in row.get("contrapro", {})][:300]
    (tmp_path / "contrapro.json").write_text(json.dumps(records), encoding="utf-8")
    documents: dict[str, dict[int, tuple[str, str]]] = {}
    for record in records:
        segments = documents.setdefault(record["document id"], {})
        segments[record["segment id"]] = (record["src segment"], record["ref segment"])
    for identifier, segments in documents.items():
        stem, folder = identifier.removesuffix(".de"), tmp_path / "documents" / identifier[:4]
        folder.mkdir(parents=True, exist_ok=True)
        numbers = range(1, max(segments) + 1)
        for side, language in enumerate(("en", "de")):
            texts = [segments.get(n, (f"line {n}", f"Zeile {n}"))[side] for n in numbers]
            (folder / f"{stem}.{language}").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")

    command = ("suites", "convert", "contrapro.json", "--from", "contrapro")
    as_json(*command, "-o", "plain.jsonl")
    as_json(*command, "--context-from", "documents", "-o", "one.jsonl")
    as_json(*command, "--context-from", "documents", "--context", "2", "-o", "two.jsonl")
    plain, one, two = (rows(tmp_path / f"{name}.jsonl")[1:] for name in ("plain", "one", "two"))
    assert len(plain) == len(one) == len(two) == 300
    for record, a, b, c in zip(records, plain, one, two, strict=True):
        assert a["source"] == [record["src segment"]]
        assert a["candidates"] == [[record["ref segment"]], *([e["contrastive"]] for e in record["errors"])]
        segments, number = documents[record["document id"]], record["segment id"]
        before = [segments.get(n, (f"line {n}", f"Zeile {n}")) if n > 0 else ("", "") for n in (number - 2, number - 1)]
        assert b["source"] == [before[1][0], record["src segment"]]
        assert c["source"] == [before[0][0], before[1][0], record["src segment"]]
        assert [x[:-1] for x in c["candidates"]] == [[before[0][1], before[1][1]]] * len(c["candidates"])
        assert a["tags"] == b["tags"] == c["tags"]
        assert a["tags"]["distance"] == record["ante distance"]


def test_scat_with_the_wrong_translations_of_lopes(as_json: Callable[..., Any], data: Data, tmp_path: Path) -> None:
    command = ("suites", "convert", data("scat-en-fr"), "--from", "scat", "--split", "valid", "-o", "scat.jsonl")
    as_json(*command, "--contrast-from", data("lopes-en-fr"))
    kinds = [example["tags"]["contrast"] for example in rows(tmp_path / "scat.jsonl")[1:]]
    assert kinds.count("agreement") > 0.9 * len(kinds)


def test_line_files_and_back(as_json: Callable[..., Any], data: Data, tmp_path: Path) -> None:
    published = data("disceval-en-fr") / "lexical-choice.json"
    as_json("suites", "convert", published, "--from", "disceval", "-o", "suite.jsonl")
    there = as_json("suites", "convert", published, "--from", "disceval", "--to", "text", "-o", "lines")
    assert there["candidates"] == 400
    as_json("suites", "convert", "lines", "--from", "text", "-o", "back.jsonl")
    (header, *examples), (again, *back) = rows(tmp_path / "suite.jsonl"), rows(tmp_path / "back.jsonl")
    for key in ("name", "source_language", "target_language"):
        assert again[key] == header[key]
    assert back == [{**example, "tags": {}} for example in examples]  # line files have no tags


# ----------------------------------------------------------------------------------- convert: our own suite


def test_line_files_of_a_small_suite(anaphora: Run, suite: Path, tmp_path: Path) -> None:
    done = anaphora("suites", "convert", suite, "--to", "text", "-o", "lines")
    names = [f"small.{kind}" for kind in ("text.en", "text.de", "context.en", "context.de", "groups")]
    assert sorted(path.name for path in (tmp_path / "lines").iterdir()) == sorted(names)
    for name in names:
        assert f"lines/{name}" in done.stderr
        assert len((tmp_path / "lines" / name).read_text(encoding="utf-8").splitlines()) == 13
    groups = (tmp_path / "lines" / "small.groups").read_text(encoding="utf-8").splitlines()
    assert groups[:5] == ["a\t1", "a\t0", "b\t0", "b\t1", "b\t0"]
    anaphora("suites", "convert", "lines", "--from", "text", "-o", "back.jsonl")
    assert rows(tmp_path / "back.jsonl")[1:] == [{**example, "tags": {}} for example in rows(suite)[1:]]


def test_line_files_with_a_separator(anaphora: Run, refused: Refused, suite: Path, tmp_path: Path) -> None:
    anaphora("suites", "convert", suite, "--to", "text", "--separator", " <SEP> ", "-o", "lines")
    lines = (tmp_path / "lines" / "small.text.de").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["Da lag etwas. <SEP> Er war alt.", "Da lag etwas. <SEP> Sie war alt."]
    assert len(lines) == 13
    assert not (tmp_path / "lines" / "small.context.de").exists()
    assert "--to text" in refused("suites", "convert", suite, "--separator", " ", "-o", "out.jsonl")


def test_line_files_that_were_gzipped(anaphora: Run, suite: Path, tmp_path: Path) -> None:
    anaphora("suites", "convert", suite, "--to", "text", "-o", "lines")
    for path in list((tmp_path / "lines").iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    anaphora("suites", "convert", "lines", "--from", "text", "-o", "back.jsonl")
    assert rows(tmp_path / "back.jsonl")[1:] == [{**example, "tags": {}} for example in rows(suite)[1:]]


def test_name_and_limit(anaphora: Run, suite: Path, tmp_path: Path) -> None:
    anaphora("suites", "convert", suite, "--name", "mine", "--limit", "2", "-o", "part.jsonl")
    header, *examples = rows(tmp_path / "part.jsonl")
    assert header["name"] == "mine"
    assert [example["id"] for example in examples] == ["a", "b"]


def test_a_gzipped_suite_is_the_same_suite(as_json: Callable[..., Any], suite: Path, tmp_path: Path) -> None:
    plain = as_json("suites", "convert", suite, "-o", "copy.jsonl")
    packed = as_json("suites", "convert", suite, "-o", "copy.jsonl.gz")
    assert plain["sha256"] == packed["sha256"]
    assert rows(tmp_path / "copy.jsonl.gz") == rows(tmp_path / "copy.jsonl")
    shown = as_json("suites", "show", "copy.jsonl.gz")
    assert (shown["examples"], shown["sha256"]) == (6, plain["sha256"])
    assert as_json("suites", "validate", "copy.jsonl.gz")["valid"] is True
    first = (tmp_path / "copy.jsonl.gz").read_bytes()
    as_json("suites", "convert", suite, "-o", "copy.jsonl.gz")
    assert (tmp_path / "copy.jsonl.gz").read_bytes() == first, "the same suite gives the same bytes"


def test_a_wrong_format_name(refused: Refused) -> None:
    message = refused("suites", "convert", "x.json", "--from", "dsceval", "-o", "out.jsonl")
    assert "'dsceval' (did you mean disceval?)" in message
    for name in ("contrapro", "contracat-attack", "eval-anaphora", "text"):
        assert name in message
    assert "dsceval" in refused("suites", "validate", "x.json", "--from", "dsceval")


@pytest.mark.parametrize(
    ("format", "option", "takes"),
    [
        ("lopes", ["--split", "test"], "--context"),
        ("disceval", ["--context", "1"], "--target-language"),
        ("voita", ["--context-from", "documents"], "no options"),
        ("contrapro", ["--contrast-from", "lopes"], "--context-from, --context"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_an_option_the_format_does_not_take(
    refused: Refused, suite: Path, format: str, option: list[str], takes: str
) -> None:
    message = refused("suites", "convert", suite, "--from", format, *option, "-o", "out.jsonl")
    assert option[0] in message
    assert repr(format) in message
    assert message.endswith(f"takes {takes}")


def test_context_without_documents(refused: Refused) -> None:
    message = refused("suites", "convert", "contrapro.json", "--from", "contrapro", "--context", "2", "-o", "o.jsonl")
    assert message.startswith("contrapro.json: ")
    assert "--context-from" in message


@pytest.mark.parametrize("format", ["contrapro-rebuilt", "contracat", "disceval"])
def test_an_input_that_is_not_there(refused: Refused, format: str, tmp_path: Path) -> None:
    assert "nowhere" in refused("suites", "convert", "nowhere", "--from", format, "-o", "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_an_error_halfway_leaves_no_file(refused: Refused, suite: Path, tmp_path: Path) -> None:
    suite.write_text(suite.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    assert "line 8" in refused("suites", "convert", suite, "-o", "out.jsonl")
    assert "line 8" in refused("suites", "convert", suite, "--to", "text", "-o", "lines")
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert left == ["small.jsonl"]


# -------------------------------------------------------------------------------------------------- validate


def test_validate_says_what_is_wrong_and_where(anaphora: Run, as_json: Callable[..., Any], suite: Path) -> None:
    header, a, b, c, d, e, f = suite.read_bytes().splitlines()
    broken = {
        3: b.replace(b'"gold": 1', b'"gold": 5'),
        4: c.replace(b"Sie war", b"Er war"),
        5: d.replace(b'"d"', b'"a"', 1),
        6: e.replace(b"Er war alt.", b" "),
        7: f.replace(b'["There was something.", ', b"["),
        8: b"{",
        9: a.replace(b'"a"', b'"\xe4"', 1),
    }
    suite.write_bytes(b"\n".join([header, a, *broken.values()]) + b"\n")
    done = anaphora("suites", "validate", suite, check=2)
    assert done.stderr == f"{suite}: 7 problems\n"
    lines = done.stdout.splitlines()
    assert [line.partition(": ")[2].partition(":")[0] for line in lines] == [f"line {n}" for n in broken]
    signs = ["gold is 5", "do not differ", "line 2", "is empty", "different lengths", "not JSON", "not UTF-8"]
    for line, sign in zip(lines, signs, strict=True):
        assert sign in line
    document = as_json("suites", "validate", suite, check=2)
    assert document["valid"] is False
    assert [problem["line"] for problem in document["problems"]] == list(broken)
    assert set(document["problems"][0]) == {"path", "line", "id", "problem"}


def test_validate_a_suite_that_is_sound(anaphora: Run, suite: Path) -> None:
    done = anaphora("suites", "validate", suite)
    assert (done.stdout, done.stderr) == ("", f"{suite}: valid\n")


def test_validate_what_is_no_suite_file(refused: Refused, scores: Path) -> None:
    message = refused("suites", "validate", scores)
    assert message.startswith(f"{scores}: line 1: ")
    assert "anaphora suites convert" in message


def test_baselines_are_printed_saved_and_shown(anaphora: Run, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{"anaphora": 1, "name": "toy", "source_language": "en", "target_language": "de"}]
    for k, right in enumerate(("Er", "Sie", "Er", "Sie")):
        both = [["", "Er ."], ["", "Sie ."]]
        row = {"id": str(k), "source": [f"{right} {k}", "It ."], "candidates": both, "gold": int(right == "Sie")}
        lines.append({**row, "tags": {"document": k}})
    (tmp_path / "toy.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "Baselines" not in anaphora("suites", "show", "toy.jsonl").stdout
    figures = json.loads(anaphora("suites", "baselines", "toy.jsonl", "--folds", "2", "--keep", "--json").stdout)
    assert figures["majority"]["accuracy"] == figures["context_blind"]["accuracy"] == 0.5
    assert figures["bag_of_words"]["target_context"] is None
    assert json.loads(anaphora("suites", "show", "toy.jsonl", "--json").stdout)["baselines"] == figures
    assert "majority: always er" in anaphora("suites", "show", "toy.jsonl").stdout
