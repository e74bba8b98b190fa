"""DiaBLa (Bawden et al. 2021): dialogues between English and French speakers through two systems, judged by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.errors import BadInput
from anaphora.core.parsing import get, read_json_object
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

LANGUAGES = {"english": "en", "french": "fr"}
OTHER = {"en": "fr", "fr": "en"}
PERFECT, FAULTY = "perfect", ("medium", "poor")
REMEDY = "Name the folder DiaBLa-corpus/dialogues of the release, or one dialogue."


class Turn(NamedTuple):
    """A sentence of a dialogue in both languages; output, judgment and problems are of the machine translation."""

    language: str
    texts: dict[str, str]
    output: str
    judgment: str | None
    problems: list[str]


def read(path: Path, *, target_language: str = "fr", context: int = 3) -> Suite:
    """The sentences that were translated into one language, of all dialogues in a folder or of one.

    The candidates are the human translation and the machine's. Where the reader of the machine translation found fault
    with it (medium, poor), the human one is right; where it was judged perfect or not at all there is no gold, and
    where the two are equal there is one candidate. Sentences of the context are human in both languages: the original
    of the speaker, and the reference translation of what the other one wrote.

    target_language: fr (English to French) or en (French to English)
    context: number of preceding sentences of the dialogue
    """
    if target_language not in OTHER:
        raise BadInput(path, f"no translations into {target_language!r}", remedy="Choose --target-language fr or en.")
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    if not files:
        raise BadInput(path, "there are no dialogues (*.json) here", remedy=REMEDY)

    def examples() -> Iterator[Example]:
        for file in files:
            yield from _dialogue(file, target_language, context)

    source = OTHER[target_language]
    header = Header(
        f"diabla-{source}-{target_language}",
        source,
        target_language,
        ("judgment", "system"),
        citation=citation("diabla"),
        licence="CC BY-SA 4.0",
    )
    return suite_of(header, examples, path)


def _dialogue(file: Path, target: str, context: int) -> Iterator[Example]:
    dialogue = read_json_object(file, REMEDY)
    turns = [_turn(file, number, one) for number, one in get(dialogue, "utterances", dict, file).items()]
    system, source, name = get(dialogue, "translation_model", str, file), OTHER[target], file.name.split(".json")[0]
    for number, turn in enumerate(turns):
        if turn.language != source:
            continue
        before = turns[max(0, number - context) : number]
        missing = [""] * (context - len(before))
        passage = {side: (*missing, *(one.texts[side] for one in before)) for side in OTHER}
        human, machine = ((*passage[target], text) for text in (turn.texts[target], turn.output))
        tags: dict[str, Tag] = {"dialogue": name, "sentence": number, "system": system}
        if turn.judgment is not None:
            tags |= {"judgment": turn.judgment, "problems": list(turn.problems)}
        faulty = turn.judgment in FAULTY and human != machine
        yield Example(
            f"{name}/{number}",
            (*passage[source], turn.texts[source]),
            (human,) if human == machine else (human, machine),
            0 if faulty else None,
            tags,
        )


def _turn(file: Path, number: str, one: Any) -> Turn:
    if not isinstance(one, dict):
        raise BadInput(file, f"utterance {number} is not an object")
    language = LANGUAGES.get(get(one, "language", str, file))
    if language is None:
        raise BadInput(file, f"utterance {number}: the language {one['language']!r} is neither english nor french")
    texts = [get(one, key, str, file) for key in ("original_text", "reference_translation", "postprocessed_text")]
    original, reference, output = (" ".join(text.split()) for text in texts)
    evaluation = get(one, "eval", dict, file)
    judgment = evaluation.get("judgment")  # ten sentences of the release have none
    if judgment not in (None, PERFECT, *FAULTY):
        raise BadInput(file, f"utterance {number}: the judgment {judgment!r} is not perfect, medium or poor")
    problems = evaluation.get("problems")
    named = [problem for problem in problems if isinstance(problem, str)] if isinstance(problems, list) else []
    return Turn(language, {language: original, OTHER[language]: reference}, output, judgment, named)
