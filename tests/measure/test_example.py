"""The made-up files: the same every time, and good enough to learn from."""

from __future__ import annotations

from pathlib import Path

from anaphora.measure.config_file import read_config
from anaphora.measure.example import write_example
from anaphora.measure.pair_list import read_pair_list


def test_made_up_files(tmp_path: Path) -> None:
    files = {path.name: path for path in write_example(tmp_path / "a")}
    assert files["reference.en"].read_bytes() == write_example(tmp_path / "b")[0].read_bytes()
    reference, first, second = (
        files[name].read_text().splitlines() for name in ("reference.en", "first.en", "second.en")
    )
    wrong = [sum(a != b for a, b in zip(reference, other, strict=True)) for other in (first, second)]
    assert wrong[0] > wrong[1] > 0
    assert read_config(files["measure.toml"]).data.train == (f"{tmp_path / 'a'}/pairs.jsonl",)
    assert read_pair_list(files["people.json"])["he:it"].reference == 60
