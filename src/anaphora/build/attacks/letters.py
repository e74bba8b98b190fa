"""Capital letters: whether a suite's text is truecased, and what a new beginning of a sentence looks like then.

ContraCAT's text is truecased (sentences begin with a small letter, names and nouns keep theirs), and so is what its
attacks put at the beginning of a sentence. In other suites a new beginning takes the capital letter.
"""

from __future__ import annotations

import itertools
import re

from anaphora.suites.suite import Suite

LOOK_AT = 500  # examples; the rest is like them
BEGINS = re.compile(r"(?:^|[.!?…:])[\s\"'„“”»«‚‘’()\[\]–—-]*$")


def is_truecased(suite: Suite) -> bool:
    """Whether most of the source sentences begin with a small letter (of the target's where there is no source)."""
    small = large = 0
    for example in itertools.islice(suite, LOOK_AT):
        for sentence in example.source if any(example.source) else example.candidates[0]:
            first = next((c for c in sentence if c.isalpha()), "")
            small, large = small + first.islower(), large + first.isupper()
    return small > large


def begins_sentence(text: str, place: int) -> bool:
    """Whether what stands at this place begins a sentence, quotation marks and dashes aside."""
    return BEGINS.search(text, 0, place) is not None


def capitalised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    """The text with a small first letter."""
    return text[:1].lower() + text[1:]
