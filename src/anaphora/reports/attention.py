"""What each pronoun looks at: a picture of attention over a passage (Jwalapuram et al. 2019, Figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.svg import BLUE, DARK, GREY, LETTER, ORANGE, document, text

LINE, CELL, SIZE, MARGIN, WIDTH = 22, 18, 12, 16, 900


@dataclass(frozen=True, slots=True)
class Attention:
    """A passage with its pronouns: words, the number of each pronoun's word, its share of the score, its attention."""

    title: str
    words: Sequence[str]
    pronouns: Sequence[int]
    shares: Sequence[float]
    rows: Sequence[Sequence[float]]


def attention_picture(passages: Sequence[Attention]) -> str:
    """An SVG: for each passage and pronoun the words, the darker the more it looks at them; pronouns are framed."""
    parts: list[str] = []
    y = float(MARGIN)
    for passage in passages:
        parts.append(text(MARGIN, y + SIZE, passage.title, bold=True, fill=DARK))
        y += LINE
        if not passage.pronouns:
            parts.append(text(MARGIN, y + SIZE, "no pronoun: the score is 0", fill=GREY))
            y += LINE
        for number, share, row in zip(passage.pronouns, passage.shares, passage.rows, strict=True):
            said = f"{passage.words[number]}  {share:+.3f}".replace("-", "−")
            parts.append(text(MARGIN, y + SIZE, said, fill=BLUE if share >= 0 else ORANGE, bold=True))
            drawn, y = _words(passage, number, row, y + LINE)
            parts += drawn
        y += LINE
    said = "; ".join(f"{p.title}: {', '.join(p.words[n] for n in p.pronouns)}" for p in passages)
    return document(WIDTH, y, f"Attention of pronouns. {said}", parts)


def _words(passage: Attention, pronoun: int, row: Sequence[float], y: float) -> tuple[list[str], float]:
    """The words in lines, each on a shade of its weight; returns where the next line begins."""
    parts = []
    x = float(2 * MARGIN)
    highest = max([*row, 2 / max(1, len(row))])  # an even spread over all words is half a shade
    for n, (word, weight) in enumerate(zip(passage.words, row, strict=True)):
        width = max(1, len(word)) * SIZE * (LETTER + 0.04) + 8
        if x + width > WIDTH - MARGIN:
            x, y = float(2 * MARGIN), y + LINE
        shade = weight / highest
        frame = f' stroke="{ORANGE}" stroke-width="2"' if n == pronoun else ""
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{CELL}" rx="3" fill="{BLUE}" '
            f'fill-opacity="{0.85 * shade:.3f}"{frame}><title>{weight:.3f}</title></rect>'
        )
        parts.append(text(x + 4, y + SIZE + 1, word, size=SIZE, fill="#fff" if shade > 0.8 else "#000"))
        x += width + 2
    return parts, y + LINE + 4
