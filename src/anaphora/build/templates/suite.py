"""The suite of a language pair: its data files found, read, checked, and made into items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.build.templates.check import check
from anaphora.build.templates.make import examples
from anaphora.build.templates.template import PAPER, Template, editions, read_templates
from anaphora.build.templates.vocabulary import WordClass, is_released, read_classes
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.languages.grammar import Grammar, load_grammar
from anaphora.suites.catalogue import citation
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

DATA = Path(__file__).with_name("data")
RELEASE = "release"
BREAKDOWNS = ("step", "template", "template×variant", "template×reference_gender")


@dataclass(frozen=True)
class TemplateSuite:
    """A suite made from templates.

    edition: of the templates; templates: their ids
    """

    suite: Suite
    edition: str
    templates: tuple[str, ...]

    def write(
        self, path: Path, progress: Callable[[int, int | None], None] | None = None
    ) -> tuple[dict[str, int], str]:
        """Write the suite's file; returns how many items each template has, and the suite's hash."""
        counts = dict.fromkeys(self.templates, 0)

        def counted() -> Iterator[Example]:
            for number, example in enumerate(self.suite, start=1):
                counts[str(example.tags["template"])] += 1
                if progress is not None:
                    progress(number, None)
                yield example

        sha256 = suite_of(self.suite.header, counted).write(path)
        return counts, sha256


@dataclass(frozen=True)
class PairFiles:
    """Where the data of a language pair is. A folder of one's own may hold parts: the rest is built in."""

    source: str
    target: str
    templates: Path
    vocabularies: tuple[Path, ...]  # later ones replace classes of earlier ones
    grammar: Path | None


def pairs() -> list[str]:
    """The language pairs that are built in."""
    return sorted(path.name for path in DATA.iterdir() if (path / "templates.toml").is_file())


def template_suite(
    languages: str = "en-de",
    only: Sequence[str] = (),
    vocabulary: Path | None = None,
    edition: str | None = None,
) -> TemplateSuite:
    """The templates of a language pair, filled.

    languages: a built-in pair, or a folder of one's own named like one
    only: ids of templates, or of groups of them (`overlap`)
    vocabulary: a folder whose word classes replace the built-in ones of the same name
    edition: `paper`; `release` for the settings of the released files, which is what a released vocabulary gets; or
        `table-8` for as many examples as the paper's Table 8 counts, the position prior in one order only
    """
    files = _files(languages)
    edition = edition or _default_edition(files, vocabulary)
    templates = _chosen(files.templates, only, edition)
    classes = _classes(files, vocabulary, templates if not only else read_templates(files.templates, edition))
    source, target = load_grammar(files.source), load_grammar(files.target, files.grammar)
    check(files.templates, templates, classes, source, target)
    words = {name: word_class.entries for name, word_class in classes.items()}

    def stream() -> Iterator[Example]:
        return examples(templates, words, source, target)

    suite = suite_of(_header(files, source, target, edition, vocabulary), stream)
    return TemplateSuite(suite, edition, tuple(template.id for template in templates))


def _files(languages: str) -> PairFiles:
    folder = Path(languages)
    name = folder.resolve().name if folder.is_dir() else languages
    source, _, target = name.partition("-")
    built_in = DATA / name
    if not folder.is_dir() and name not in pairs():
        near = did_you_mean(name, pairs())
        raise AnaphoraError(f"no templates for {name!r}{near}: there are {', '.join(pairs())}; or name a folder")
    if not (source and target):
        raise BadInput(folder, "not named like a language pair", remedy="Call the folder en-it, for example.")
    own = folder if folder.is_dir() else built_in
    templates = next((p / "templates.toml" for p in (own, built_in) if (p / "templates.toml").is_file()), None)
    if templates is None:
        raise BadInput(folder, "no templates.toml is here", remedy="See docs/templates.md: how to add a language pair.")
    vocabularies = tuple(p / "vocabulary" for p in dict.fromkeys((built_in, own)) if (p / "vocabulary").is_dir())
    if not vocabularies:
        raise BadInput(folder, "no folder 'vocabulary' is here", remedy="Put one .tsv file per word class into it.")
    grammar = own / "grammar.toml"
    return PairFiles(source, target, templates, vocabularies, grammar if grammar.is_file() else None)


def _default_edition(files: PairFiles, vocabulary: Path | None) -> str:
    released = vocabulary is not None and is_released(vocabulary)
    return RELEASE if released and RELEASE in editions(files.templates) else PAPER


def _chosen(path: Path, only: Sequence[str], edition: str) -> tuple[Template, ...]:
    known = editions(path)
    if edition not in known:
        raise AnaphoraError(
            f"no edition {edition!r}{did_you_mean(edition, known)}: there are {', '.join(sorted(known))}"
        )
    templates = read_templates(path, edition)
    ids = [template.id for template in templates]
    for wanted in only:
        if not any(_is_in(identifier, wanted) for identifier in ids):
            raise AnaphoraError(f"no template {wanted!r}{did_you_mean(wanted, ids)}: there are {', '.join(ids)}")
    return tuple(t for t in templates if not only or any(_is_in(t.id, wanted) for wanted in only))


def _is_in(identifier: str, wanted: str) -> bool:
    return identifier == wanted or identifier.startswith(f"{wanted.rstrip('/')}/")


def _classes(files: PairFiles, vocabulary: Path | None, templates: Sequence[Template]) -> dict[str, WordClass]:
    """The word classes of all vocabularies; a file that no template draws on is a mistake, most likely in its name."""
    classes: dict[str, WordClass] = {}
    used = {draw.word_class for t in templates for variant in t.variants for draw in variant.slots.values()}
    for folder in (*files.vocabularies, *([vocabulary] if vocabulary else [])):
        for name, word_class in read_classes(folder, (files.source, files.target)).items():
            if name not in used:
                remedy = f"Word classes are {', '.join(sorted(used))}."
                problem = f"no template draws on a class {name!r}{did_you_mean(name, used)}"
                raise BadInput(word_class.path, problem, remedy=remedy)
            classes[name] = word_class
    return classes


def _header(files: PairFiles, source: Grammar, target: Grammar, edition: str, vocabulary: Path | None) -> Header:
    name = f"contracat-{source.language}-{target.language}" + ("" if edition == PAPER else f"-{edition}")
    licence = "Apache-2.0" if vocabulary is None and DATA in files.templates.parents else "that of the vocabulary"
    return Header(name, files.source, files.target, BREAKDOWNS, citation=citation("contracat"), licence=licence)
