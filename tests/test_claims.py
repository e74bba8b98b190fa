"""What docs, comments and experiments say of the papers and of other tools is what these say."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.nmt.config import presets

ROOT = Path(__file__).resolve().parents[1]

# ContraPro, Table 6, accuracy in total
SENTENCE_LEVEL = {"recurrent": 0.44, "Transformer": 0.47}
CONTEXT_AWARE = {
    "concat22": 0.53,
    "s-hier": 0.43,
    "s-t-hier": 0.52,
    "s-hier-to-2": 0.55,
    "s-hier.tied": 0.47,
    "s-t-hier.tied": 0.56,
    "s-hier-to-2.tied": 0.60,
    "concat21, Transformer": 0.48,
    "concat22, Transformer": 0.49,
    "Voita et al.": 0.49,
}


def text_of(name: str) -> str:
    """A text without its line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_the_range_of_contrapro_models_is_table_6_s() -> None:
    low, high = min(CONTEXT_AWARE.values()), max(CONTEXT_AWARE.values())
    baselines = f"{min(SENTENCE_LEVEL.values()):.2f}–{max(SENTENCE_LEVEL.values()):.2f}"
    text = text_of("docs/questions.md")
    assert f"sentence-level models of 2018 had {baselines}, context-aware ones {low:.2f}–{high:.2f} (Table 6)" in text


def test_the_answers_of_the_published_study_are_published() -> None:
    text = text_of("docs/study.md")
    assert "not public" not in text
    assert "`study_responses_*.db`" in text


def test_the_plateau_schedule_is_that_of_contracat() -> None:
    text = text_of("src/anaphora/nmt/training.py")
    assert "(ContraCAT, appendix A: 0.7 after 8 checkpoints)" in text
    assert "ContraPro" not in text


def test_augmentation_is_section_7_of_contracat() -> None:
    assert "(ContraCAT §7)" in presets()["transformer-antecedent-free"].description


@pytest.mark.parametrize(
    ("row", "tool"),
    [
        ("Downloads test sets", "COMET"),
        ("Downloads test sets", "lm-eval"),
        ("Tests between systems", "lm-eval"),
        ("Trains context-aware models", "contextual-mt"),
        ("Does it use context? CXMI", "contextual-mt"),
        ("Does it use context? CXMI", "inseq"),
        ("Which words of the context", "inseq"),
        ("Correlation of metrics with human scores", "mt-metrics-eval"),
    ],
)
def test_other_tools_have_what_they_have(row: str, tool: str) -> None:
    """Cells of docs/comparison.md that were wrong, or whose column was missing."""
    head: list[str] = []
    for line in (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| |"):
            head = cells
        if tool in head and cells[0].startswith(row):
            assert cells[head.index(tool)] != "–"
            return
    pytest.fail(f"no row {row!r} with {tool}")


def test_bleu_on_french_news_is_compared_after_normalization() -> None:
    """As it is Microsoft's text is below Bergamot's: its apostrophes are typographic."""
    assert "three to five normalized BLEU points" in text_of("experiments/README.md")
