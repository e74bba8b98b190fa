"""Signatures: the settings in their order, and only what is unusual where there is a usual value."""

from __future__ import annotations

from anaphora.stats.resampling import Resampling
from anaphora.stats.signature import Signature, short_hash, with_hash


def test_parts_keep_their_order_and_none_is_left_out() -> None:
    line = Signature("x").add("b", 1).add("c", None).extend(["tok:none", "norm:signs"]).add("a", "z")
    assert str(line) == "x|b:1|tok:none|norm:signs|a:z"


def test_the_long_form_spells_settings_out() -> None:
    line = Signature("ctr", "contrastive").add("s", "a@1f", "suite", "a@1f3c").spell("seed", "none").spell("x", None)
    assert (str(line), line.long) == ("ctr|s:a@1f", "contrastive|suite:a@1f3c|seed:none")


def test_the_signature_names_what_is_unusual() -> None:
    assert str(Signature().resampled(Resampling())) == "ci:bs10000|seed:12345"
    assert str(Signature("x").resampled(Resampling(50, 7, 0.9))) == "x|ci:bs50|conf:0.9|seed:7"


def test_hashes_are_short() -> None:
    assert with_hash("contrapro", "1f3c9a" + "0" * 58) == "contrapro@1f3c9a"
    assert short_hash(["a", "b"]) == short_hash(iter("ab")) != short_hash(["ab"])
