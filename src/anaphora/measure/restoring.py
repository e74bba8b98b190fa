"""Text without case and signs, as the annotated pairs of the paper are, made a little more like what models have read.

*i don t know . it was jenner s* becomes *I don't know. It was Jenner's.*: capitals where sentences begin, *I*, the
apostrophes of clitics, signs that follow their word, and names as they are written elsewhere, if these are given.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

ENDS = frozenset(".?!")
CLITICS = frozenset(("s", "re", "ve", "ll", "m", "d"))
NEGATED = re.compile("(ai|are|ca|could|did|does|do|had|has|have|is|must|need|should|was|were|wo|would)n")
WORD = re.compile(r"\w+|[.?!:\"“”„»«]")


def restored(text: str, names: Mapping[str, str] | None = None, *, close: bool = True) -> tuple[str, list[int]]:
    """The text as one would write it, and for each of its characters the place in `text` that it stands for.

    names: words that are written otherwise inside of a sentence (munich: Munich)
    close: put a full stop at the end, if there is no sign
    """
    found: list[str] = []
    places: list[int] = []
    before, beginning = "", True
    for match in re.finditer(r"\S+", text):
        word, start = match[0], match.start()
        clitic = _is_clitic(word, before)
        lead = "'" if clitic else " " if before and word not in ENDS else ""
        spelled = "I" if word == "i" else word if clitic else (names or {}).get(word, word)
        if beginning:
            spelled = spelled[:1].upper() + spelled[1:]
        found.append(lead + spelled)
        places += [start] * len(lead) + [min(start + n, match.end() - 1) for n in range(len(spelled))]
        before, beginning = word, word in ENDS
    if close and before and before not in ENDS:
        found.append(".")
        places.append(places[-1])
    return "".join(found), places


def _is_clitic(word: str, before: str) -> bool:
    """Whether it belongs to the word before it: what is left of 's, 're and n't."""
    if not before or before in ENDS:
        return False
    return word in CLITICS or (word == "t" and NEGATED.fullmatch(before) is not None)


def learn_names(lines: Iterable[str]) -> dict[str, str]:
    """Words that are mostly not in lower case where no sentence begins, as they are mostly written there."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        beginning = True
        for word in WORD.findall(line):
            if not word[0].isalnum():
                beginning = True
                continue
            if not beginning:
                counts[word.lower()][word] += 1
            beginning = False
    usual = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return {word: written for word, written in usual.items() if written != word}
