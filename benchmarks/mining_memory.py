"""Peak memory of mining, all stages: ten times the corpus must not take more. Made-up documents, ready annotated."""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timing import Row

AT_MOST = 1.25
SMALL, LARGE = 10_000, 100_000  # sentence pairs
TRAINED = 5_000  # of them by the aligner, whatever the corpus: its sample is held in memory
NOUNS = (
    ("house", "Haus", "Neut", "Das", "Es"),
    ("door", "Tür", "Fem", "Die", "Sie"),
    ("chair", "Stuhl", "Masc", "Der", "Er"),
)
ADJECTIVES = tuple((f"new{n}", f"neu{n}") for n in range(40))


def run(small: int = SMALL, large: int = LARGE) -> list[Row]:
    peaks = {}
    for pairs in (small, large):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), pairs)
            peaks[pairs] = peak(Path(folder))
    note = f"{peaks[large]:.0f} MB against {peaks[small]:.0f} MB; {TRAINED:,} pairs are trained on"
    return [Row(f"mining: peak memory, {large:,} / {small:,} pairs", peaks[large] / peaks[small], "×", AT_MOST, note)]


def write(folder: Path, pairs: int) -> None:
    """Documents of two sentences, the second with a pronoun for the noun of the first, as lines and as CoNLL-U."""
    combinations = itertools.cycle(itertools.product(ADJECTIVES, NOUNS, ADJECTIVES))
    files = {name: (folder / name).open("w", encoding="utf-8") for name in ("en", "de", "en.conllu", "de.conllu")}
    for (one, eins), (noun, nomen, gender, article, pronoun), (two, zwei) in itertools.islice(combinations, pairs // 2):
        english = (
            (("The", "DET", ""), (noun, "NOUN", "Number=Sing"), ("is", "AUX", ""), (one, "ADJ", "")),
            (
                ("It", "PRON", "Case=Nom|Number=Sing|Person=3"),
                ("is", "AUX", ""),
                (two, "ADJ", ""),
            ),
        )
        german = (
            (
                (article, "DET", ""),
                (nomen, "NOUN", f"Case=Nom|Gender={gender}|Number=Sing"),
                ("ist", "AUX", ""),
                (eins, "ADJ", ""),
            ),
            (
                (pronoun, "PRON", f"Case=Nom|Gender={gender}|Number=Sing|Person=3"),
                ("ist", "AUX", ""),
                (zwei, "ADJ", ""),
            ),
        )
        for language, document in (("en", english), ("de", german)):
            for sentence in document:
                words = [word for word, _, _ in sentence]
                files[language].write(" ".join(words) + "\n")
                files[f"{language}.conllu"].write("\n".join(conllu(sentence)) + "\n\n")
            files[language].write("\n")
    for file in files.values():
        file.close()


def conllu(sentence: tuple[tuple[str, str, str], ...]) -> Iterator[str]:
    """The last word is the predicate; before it a copula, and the subject."""
    yield "# text = " + " ".join(word for word, _, _ in sentence)
    last = len(sentence)
    for number, (word, tag, features) in enumerate(sentence, start=1):
        relation = {"DET": "det", "NOUN": "nsubj", "PRON": "nsubj", "AUX": "cop", "ADJ": "root"}[tag]
        head = {"det": number + 1, "root": 0}.get(relation, last)
        yield "\t".join((str(number), word, word.lower(), tag, "_", features or "_", str(head), relation, "_", "_"))


def peak(folder: Path) -> float:
    """MB at most resident in the process that mines; a small one starts it, so that its peak is its own (memory.py)."""
    command = [sys.executable, __file__, "between", str(folder)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def mine(folder: Path) -> None:
    from anaphora.build.mine.corpus import Corpus
    from anaphora.build.mine.pipeline import InProcess, Output, Settings
    from anaphora.build.mine.pipeline import mine as mined

    specs = (f"conllu:{folder / 'en.conllu'}", f"conllu:{folder / 'de.conllu'}")
    settings = Settings(Corpus(folder / "en", folder / "de"), ("en", "de"), specs, align_train=TRAINED)
    result = mined(settings, Output(folder / "suite.jsonl", None, folder / "work", "memory"), InProcess())
    assert result.found.total() > result.index.pairs / 10, result.found
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)


if __name__ == "__main__":
    if sys.argv[1] == "between":
        sys.exit(subprocess.run([sys.executable, __file__, "mine", sys.argv[2]], check=False).returncode)
    mine(Path(sys.argv[2]))
