"""The work on a shard: clean-up that is counted once, words for the aligner, links that are given."""

from __future__ import annotations

from anaphora.build.mine.jobs import Clean, lowercase
from anaphora.build.mine.piece import Piece, pack_pieces, unpack, unpack_pieces


def test_clean_up_is_counted_by_side_and_keeps_the_number_of_sentences() -> None:
    pieces = [
        Piece("d", 0, 0, 0, ("- It.", "[SIGHS]", "No."), ("Es.", "(seufzt)", "- <i>Nein.</i>")),
        Piece("d", 2, 2, 1, ("- No.", "- Yes."), ("- Nein.", "Ja.")),  # the first one is repeated
    ]
    data = Clean("subtitles")([pack_pieces(pieces)])
    first, second = unpack_pieces(data)
    assert (first.source, first.target) == (("It.", "", "No."), ("Es.", "", "Nein."))
    assert (second.source, second.target, second.first) == (("No.", "Yes."), ("Nein.", "Ja."), 1)
    counts = next(unpack(data))["cleaned"]
    changed = {side: {rule: n for rule, n in rules.items() if n} for side, rules in counts.items()}
    assert changed == {"source": {"dashes": 2, "directions": 1}, "target": {"directions": 1, "dashes": 1, "tags": 1}}


def test_words_as_aligners_take_them() -> None:
    assert lowercase(["It", "WAS", "ÄÖ"]) == ["it", "was", "äö"]
    assert lowercase(["1 000", "", "a\u00a0b", "X"]) == ["1_000", "_", "a_b", "x"]
    assert lowercase([]) == []
