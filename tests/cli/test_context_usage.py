"""`anaphora context-usage` where texts are longer than the model takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anaphora.cli import main
from tests.tiny_models import demo_sentences, make_marian

pytest.importorskip("torch", reason="torch is not installed: pip install 'anaphora[hf]'")
pytest.importorskip("sentencepiece", reason="sentencepiece is not installed: pip install 'anaphora[hf]'")


@pytest.fixture
def usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command for two examples, one of them with a context that is too long for the model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    make_marian(tmp_path / "model", demo_sentences())
    header = {"anaphora": 1, "name": "long", "source_language": "en", "target_language": "de", "breakdowns": []}
    rows = [
        {
            "id": str(k),
            "source": ["I found the lamp. " * repeat, "It works."],
            "candidates": [["Ich fand die Lampe.", f"{pronoun} geht."] for pronoun in ("Sie", "Er")],
            "gold": 0,
        }
        for k, repeat in enumerate((1, 100))
    ]
    lines = "".join(json.dumps(row) + "\n" for row in (header, *rows))
    (tmp_path / "suite.jsonl").write_text(lines, encoding="utf-8")
    return ["context-usage", "suite.jsonl", "--system", "hf:model", "--context", "1", "--threads", "1", "-o"]


def run(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        main(arguments)
    printed = capfd.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


def test_the_remedy_for_long_texts_is_an_option(usage: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    code, _, message = run([*usage, "whole"], capfd)
    assert (code, "--truncate" in message) == (2, True)
    code, _, message = run([*usage, "cut", "--truncate"], capfd)
    assert code == 0, message
    assert "up to 1 inputs per run exceeded" in message


def test_truncated_texts_are_counted_in_json(usage: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    code, out, message = run([*usage, "cut", "--truncate", "--json"], capfd)
    assert code == 0, message
    assert json.loads(out)["truncated"] == 1
