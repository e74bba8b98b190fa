"""Which word of a translation stands for which word of another translation into the same language.

Two translations of one sentence share most of their words, so that the edit distance aligns them well: equal words are
matched, and a pronoun that stands where the other text has another pronoun is their difference.
"""

from __future__ import annotations

from collections.abc import Sequence

SAME, PRONOUNS, OTHERS, GAP = 0.0, 0.7, 1.1, 0.6  # costs: equal words, two pronouns, two other words, a word alone

Links = list[tuple[int, int]]


def match(one: Sequence[str], other: Sequence[str], pronouns: frozenset[str]) -> Links:
    """The pairs of words in the cheapest monotone alignment: equal words, and words that stand for each other.

    A pronoun for another pronoun is cheaper than any two words, and cheaper than leaving both alone. Ties go to the
    pair, then to the word that is only in the first text.
    """
    begin, stop_one, stop_other = 0, len(one), len(other)
    while begin < min(stop_one, stop_other) and one[begin] == other[begin]:
        begin += 1
    while stop_one > begin and stop_other > begin and one[stop_one - 1] == other[stop_other - 1]:
        stop_one, stop_other = stop_one - 1, stop_other - 1
    links = [(place, place) for place in range(begin)]
    inner = _inner(one[begin:stop_one], other[begin:stop_other], pronouns)
    links += [(begin + i, begin + j) for i, j in inner]
    links += [(stop_one + k, stop_other + k) for k in range(len(one) - stop_one)]
    return links


def _inner(one: Sequence[str], other: Sequence[str], pronouns: frozenset[str]) -> Links:
    """The alignment of what differs, by dynamic programming over (len(one) + 1) × (len(other) + 1) costs."""
    width = len(other)
    rows = [[GAP * j for j in range(width + 1)]]
    for i, word in enumerate(one):
        above, row = rows[-1], [GAP * (i + 1)]
        is_pronoun = word in pronouns
        for j, against in enumerate(other):
            price = SAME if word == against else PRONOUNS if is_pronoun and against in pronouns else OTHERS
            row.append(min(above[j] + price, above[j + 1] + GAP, row[j] + GAP))
        rows.append(row)
    links = []
    i, j = len(one), width
    while i and j:
        word, against = one[i - 1], other[j - 1]
        price = SAME if word == against else PRONOUNS if word in pronouns and against in pronouns else OTHERS
        here = rows[i][j]
        if abs(rows[i - 1][j - 1] + price - here) < 1e-9:
            links.append((i - 1, j - 1))
            i, j = i - 1, j - 1
        elif abs(rows[i - 1][j] + GAP - here) < 1e-9:
            i -= 1
        else:
            j -= 1
    return links[::-1]
