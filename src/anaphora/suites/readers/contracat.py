"""ContraCAT's templates as released (Stojanovski et al. 2020): folders of three lines per item, one per gender."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anaphora.core.documents import parallel_lines
from anaphora.core.errors import BadInput
from anaphora.core.files import existing, require
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.readers.text import groups_of
from anaphora.suites.suite import Header, Suite, suite_of

GENDERS = "mfn"  # the order of the three lines of an item
NAMES: dict[str, Tag] = {"m": "masculine", "f": "feminine", "n": "neuter"}

# the folder of a template in the release → its id and the step of the pipeline that it tests (§3, §6)
TEMPLATES = {
    "0_priors/role": ("prior/role", "priors"),
    "0_priors/position": ("prior/position", "priors"),
    "0_priors/verb": ("prior/verb", "priors"),
    "1_entity_step": ("markable", "markable detection"),
    "2_coreference_step/overlap/verb_overlap": ("overlap/verb", "coreference resolution"),
    "2_coreference_step/overlap/object_overlap": ("overlap/object", "coreference resolution"),
    "2_coreference_step/overlap/subject_overlap": ("overlap/subject", "coreference resolution"),
    "2_coreference_step/overlap/object_verb_overlap": ("overlap/object-verb", "coreference resolution"),
    "2_coreference_step/overlap/subject_verb_overlap": ("overlap/subject-verb", "coreference resolution"),
    "2_coreference_step/world_knowledge": ("world-knowledge", "coreference resolution"),
    "2_coreference_step/event": ("event", "coreference resolution"),
    "2_coreference_step/pleonastic": ("pleonastic", "coreference resolution"),
    "3_gender_step": ("gender", "language translation"),
}


def read(path: Path) -> Suite:
    """All templates below a folder (the whole release, one step, or one template) as one suite."""
    folders = sorted({f.parent for f in path.rglob("en.txt*") if existing(f.parent, "de.txt")}) if path.is_dir() else []
    if not folders:
        raise BadInput(path, "no subfolder has en.txt and de.txt", remedy="Name the release's templates folder.")

    def examples() -> Iterator[Example]:
        for folder in folders:
            yield from _folder(folder)

    breakdowns = ("step", "template", "template×variant", "template×reference_gender")
    header = Header("contracat", "en", "de", breakdowns, citation=citation("contracat"), licence="not stated")
    return suite_of(header, examples, path)


def split_passage(line: str) -> Passage:
    """`context <SEP> current`; the attacks have two spaces after the mark."""
    return tuple(sentence.strip() for sentence in line.split("<SEP>"))


def _folder(folder: Path) -> Iterator[Example]:
    template, step, variant = _template_of(folder)
    files = [require(folder, name) for name in ("en.txt", "de.txt", "genders.txt")]
    for number, rows in enumerate(groups_of(parallel_lines(*files), len(GENDERS), files[0])):
        english, genders = {row[0] for row in rows}, {row[2].strip() for row in rows}
        if len(english) != 1 or len(genders) != 1:
            problem = "the three lines of an item must share their English and their gender"
            raise BadInput(files[0], problem, line=number * 3 + 1)
        gender = genders.pop()
        # a letter for each entity: two in the role and position priors, none in the verb prior
        entities = {"prior/role": 2, "prior/position": 2, "prior/verb": 0}.get(template, 1)
        if len(gender) != entities or not set(gender) <= set(GENDERS):
            raise BadInput(files[2], f"gender {gender!r} does not fit the template {template}", line=number * 3 + 1)
        source = split_passage(english.pop())
        tags: dict[str, Tag] = {"template": template, "step": step, "candidate_genders": list(GENDERS)}
        if variant:
            tags["variant"] = variant
        if gender in NAMES:
            tags["reference_gender"] = NAMES[gender]
        else:
            tags |= _choices(template, gender, source)
        yield Example(
            id="/".join(filter(None, (template, variant, str(number)))),
            source=source,
            candidates=tuple(split_passage(row[1]) for row in rows),
            gold=GENDERS.index(gender) if gender in NAMES else None,
            tags=tags,
        )


def _choices(template: str, genders: str, source: Passage) -> dict[str, Tag]:
    """Tags with the meaning of each choice where no candidate is right (Tables 10–12).

    Role and position name the genders of two entities. The two orders of a position item are a `pair`: they have
    the same words.
    """
    if template == "prior/verb":
        return {"choices": [NAMES[g] for g in GENDERS]}
    names = ("subject", "object") if template == "prior/role" else ("first", "second")
    meaning = dict(zip(genders[::-1], names[::-1], strict=True))
    choices: dict[str, Tag] = {"choices": [meaning.get(g, "neither") for g in GENDERS]}
    if template == "prior/position":
        choices["pair"] = " ".join(sorted(re.findall(r"\w+", " ".join(source).lower())))
    return choices


def _template_of(folder: Path) -> tuple[str, str, str]:
    """The template, step and variant that a folder of the release holds, from its path."""
    path = folder.resolve().as_posix()
    for template_folder, (template, step) in TEMPLATES.items():
        _, separator, variant = f"{path}/".partition(f"/{template_folder}/")
        if separator:
            return template, step, variant.strip("/")
    raise BadInput(folder, "not a template of the release", remedy=f"Known folders: {', '.join(TEMPLATES)}")
