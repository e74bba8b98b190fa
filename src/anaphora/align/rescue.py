"""Where the aligner missed a pronoun: the four steps of APT §2.3, as the paper states them.

1. A pronoun that is aligned to no word, to a non-pronoun, or to several words may be misaligned. If one of several
   words is a pronoun, it is the translation. If not, the words before and after the pronoun (−1 and +1) are looked
   at: the target words that they are aligned to are the markers.
2. The range goes from one word before the first marker to one word after the last.
3. The likely translations of the source pronoun in the range are the candidates.
4. The candidate nearest to the centre of the range is the translation.

Where the paper is silent, this is what happens here:

- Several of several words are pronouns: a likely translation goes before another pronoun, then the first one.
- A neighbour may be aligned to several words, and the two may cross: markers are all words that either is aligned to.
- A neighbour is missing (the sentence begins or ends) or aligned to nothing: the markers are those of the other one.
  Without any marker nothing is found.
- The range ends where the sentence does; its centre is the middle of the words that are left.
- Two candidates are equally near: the first one.
- A candidate may be aligned to another source word; the paper does not forbid it (the original program does).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

Question = Callable[[int], bool]  # of a target word, by its position


class Found(NamedTuple):
    """The target word that translates a pronoun; rescued: not by a link of its own."""

    position: int
    rescued: bool


def find_translation(
    pronoun: int,
    links: Sequence[Sequence[int]],
    length: int,
    *,
    is_pronoun: Question,
    is_likely: Question,
    rescue: bool = True,
) -> Found | None:
    """The translation of the source pronoun at a position, if there is one.

    links: for each source word the target words it is aligned to; length: the number of target words
    rescue: whether to search among the neighbours at all; without it only a link to a pronoun counts
    """
    linked = linked_pronoun(links[pronoun], is_pronoun, is_likely)
    if linked is not None:
        return Found(linked, rescued=False)
    if not rescue:
        return None
    marked = markers(pronoun, links)
    if not marked:
        return None
    words = widened(marked, length)
    nearest = nearest_to_centre([word for word in words if is_likely(word)], words)
    return None if nearest is None else Found(nearest, rescued=True)


def linked_pronoun(linked: Sequence[int], is_pronoun: Question, is_likely: Question) -> int | None:
    """Step 1: the pronoun among the words that a source pronoun is aligned to."""
    pronouns = [word for word in sorted(linked) if is_pronoun(word)]
    return next((word for word in pronouns if is_likely(word)), pronouns[0] if pronouns else None)


def markers(pronoun: int, links: Sequence[Sequence[int]]) -> list[int]:
    """Step 1, where it finds no pronoun: what the words at −1 and +1 are aligned to."""
    neighbours = (place for place in (pronoun - 1, pronoun + 1) if 0 <= place < len(links))
    return sorted({word for place in neighbours for word in links[place]})


def widened(marked: Sequence[int], length: int) -> range:
    """Step 2: from one word before the first marker to one after the last, within the sentence."""
    return range(max(marked[0] - 1, 0), min(marked[-1] + 1, length - 1) + 1)


def nearest_to_centre(candidates: Sequence[int], words: range) -> int | None:
    """Step 4: among the likely translations of step 3 the one nearest to the middle of the range."""
    twice_centre = words.start + words.stop - 1  # doubled, to stay with whole numbers
    return min(candidates, key=lambda word: (abs(2 * word - twice_centre), word), default=None)
