"""Text as token ids: sources and targets, prompts, the part of a candidate that is scored. No torch here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import open_binary, text_lines
from anaphora.runs import CandidateScores, equal_pairs
from anaphora.scoring.encoded import CandidateScore, EncodedExample, Ids, too_long
from anaphora.suites.example import Example, common_prefix
from anaphora.systems.context import Context, Options, ScoringInput, parse_bool

PACKAGE = Path(__file__).parents[1]
MAX_ID = 2**31  # more than any vocabulary has
TRIAL = "It \U0010ffff"  # its second character is in no vocabulary


def answer(candidates: Sequence[object], scores: Sequence[CandidateScore], truncated: int) -> CandidateScores:
    """Return (score, tokens) of every candidate as the scores of an example.

    candidates: as the model reads them; it cannot tell equal ones apart
    """
    counts = [tokens for _, tokens in scores]
    return CandidateScores([score for score, _ in scores], counts, equal_pairs(candidates), truncated)


def answer_by_tokens(
    item: EncodedExample, values: Mapping[Ids, Sequence[float]], margins_only: bool
) -> CandidateScores:
    """Return the scores of an example, given the log-probabilities of the tokens of each distinct candidate.

    margins_only: leave out what all candidates share
    """
    left_out = common_prefix(item.candidates) if margins_only else 0
    scores = [(sum(values[candidate][left_out:], 0.0), len(candidate)) for candidate in item.candidates]
    return answer(item.candidates, scores, item.truncated)


def load_tokenizer(name: str, what: str = "tokenizer", **arguments: Any) -> Any:
    """Load a Hugging Face tokenizer by name or path. It never cuts: callers check how long a text may be."""
    try:
        import transformers  # here, as modules without a model import this one, too
    except ModuleNotFoundError as error:
        problem = f"a tokenizer needs {error.name}, which is not installed"
        raise AnaphoraError(f'{problem}: pip install "anaphora[ct2]"') from None
    transformers.logging.set_verbosity_error()  # it warns of long texts, which are an error here
    tokenizer = loaded(name, what, lambda: transformers.AutoTokenizer.from_pretrained(name, **arguments))
    if not all(type(number) is int and 0 <= number < MAX_ID for number in tokenizer.get_vocab().values()):
        raise AnaphoraError(
            f"{name}: the tokenizer's vocabulary has ids that are not whole numbers from 0 to {MAX_ID:,}"
        )
    if None in loaded(name, what, lambda: tokenizer(TRIAL).input_ids):
        problem = "has no token for unknown words or for the end of a text"
        raise AnaphoraError(f"{name}: the tokenizer {problem}. Check tokenizer_config.json")
    return tokenizer


def describe_tokenizer(tokenizer: Any) -> str:
    """Return the kind of a tokenizer, and the size and a hash of its vocabulary, for the header of a run."""
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: (item[1], item[0]))
    return f"{type(tokenizer).__name__}/{len(tokens)}@{hashlib.sha256(repr(tokens).encode()).hexdigest()[:8]}"


def loaded(name: str, what: str, load: Callable[[], Any]) -> Any:
    """Return what a library loads by a name; its errors become one line."""
    try:
        return load()
    except AnaphoraError:
        raise
    except BaseException as error:  # libraries raise many kinds for damaged files
        if not _of_library(error):
            raise
        problem = " ".join(str(error).split())[:300]
        here = "" if Path(name).exists() else " (there is no such folder, and it could not be downloaded from the hub)"
        raise AnaphoraError(f"{name}: the {what} cannot be loaded{here}: {problem}") from None


def _of_library(error: BaseException) -> bool:
    """Whether a library may have raised an error, and not the user; a panic of Rust, in tokenizers, is no Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


@contextmanager
def usable(name: str) -> Iterator[None]:
    """Turn an error that a library raises while it computes with a loaded model into one line that names the model.

    Its files may fit together well enough to be loaded, and not to be used: ids beyond the vocabulary, a template
    that cannot be parsed. Errors of our own code and a lack of memory pass.
    """
    try:
        yield
    except (AnaphoraError, MemoryError):
        raise
    except BaseException as error:
        if not _of_library(error):
            raise
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        ours = frame is not None and Path(frame.tb_frame.f_code.co_filename).is_relative_to(PACKAGE)
        if ours or "memory" in str(error).lower():
            raise
        problem = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise AnaphoraError(f"{name}: the model cannot be used ({problem}). Check its files") from error


# Which part of a candidate is scored: all of it, the current sentence alone, or the word that decides.

SCOPES = ("candidate", "current", "pronoun")


def check_scope(scope: str) -> None:
    if scope not in SCOPES:
        raise AnaphoraError(f"unknown scope {scope!r}. Known: {', '.join(SCOPES)}")


def context_question(example: Example, context: Context) -> ScoringInput:
    """Return the source of an example with its target context alone, to find where the current sentence begins."""
    cut = example.with_context(context.sentences)
    before = cut.candidates[example.gold or 0][:-1] if context.target != "none" else ()
    return ScoringInput(context.join(cut.source), (context.join(before),))


def current(encoded: EncodedExample, before: EncodedExample) -> EncodedExample:
    """Predict only what follows the target context, and read the context.

    before: the example with the context alone as target; if candidates differ in their context, what they share is read
    """
    given = before.candidates[0]  # its last token, the end of the sentence, is not in common
    return _read(encoded, common_prefix([ids[:-1] for ids in (given, *encoded.candidates)]))


def pronoun(encoded: EncodedExample) -> EncodedExample:
    """Predict only the first token in which candidates differ, and read what they share before it."""
    several = len(encoded.candidates) > 1
    shared = common_prefix([candidate[:-1] for candidate in encoded.candidates]) if several else 0  # predict one each
    read = _read(encoded, shared)
    return read._replace(candidates=tuple(candidate[:1] for candidate in read.candidates))


def _read(encoded: EncodedExample, tokens: int) -> EncodedExample:
    start = encoded.candidates[0][:tokens]
    candidates = tuple(candidate[tokens:] for candidate in encoded.candidates)
    return encoded._replace(prompt=(*encoded.prompt, *start), candidates=candidates)


def encode_examples(
    examples: Sequence[Example], options: Options, encode: Callable[[Sequence[ScoringInput]], list[EncodedExample]]
) -> list[EncodedExample]:
    """Return examples as tokens; what is outside the scope is read, not predicted."""
    context, scope = options.context, options.scope
    encoded = encode([context.scoring_input(example) for example in examples])
    if scope == "current" and examples:
        befores = encode([context_question(example, context) for example in examples])
        return [current(item, before) for item, before in zip(encoded, befores, strict=True)]
    return [pronoun(item) for item in encoded] if scope == "pronoun" else encoded


# Source and target as an encoder–decoder reads them: language codes, prefixes, where the decoder starts.


class Seq2SeqInputs:
    """The tokens of questions, the same for every library that computes with them.

    start: the token that the decoder starts from; limit: how many tokens the model takes, None where there is no end
    """

    def __init__(
        self, tokenizer: Any, settings: Mapping[str, str], options: Options, *, start: int, limit: int | None
    ) -> None:
        self.tokenizer, self.start, self.limit, self.truncate = tokenizer, start, limit, options.truncate
        self.source_code: str | None = None
        self.target_code: str | None = None
        self.source_id: int | None = None
        self.target_id: int | None = None
        self._set_languages(settings.get("source"), settings.get("target"), options.languages)
        tag = f"<2{options.languages[1]}>"  # MADLAD
        known = options.languages[1] and tag in tokenizer.get_vocab()
        self.prefix = settings.get("prefix", f"{tag} " if known else "")

    def settings(self) -> dict[str, Any]:
        return {"source_code": self.source_code, "target_code": self.target_code, "prefix": self.prefix}

    def encode(self, questions: Sequence[ScoringInput]) -> list[EncodedExample]:
        """Return token ids of questions; a text that is too long is an error or is cut, as the options say."""
        sources = self.tokenizer([self.prefix + question.source for question in questions]).input_ids
        targets = self.tokenizer(text_target=[t for question in questions for t in question.targets]).input_ids
        labels = iter(targets)
        return [
            self._limited(self._encoded(source, list(islice(labels, len(question.targets)))), question)
            for question, source in zip(questions, sources, strict=True)
        ]

    def sources(self, texts: Sequence[str]) -> list[Ids]:
        """Return token ids of texts to translate, within what the model takes."""
        if not texts:
            return []
        ids = self.tokenizer([self.prefix + text for text in texts]).input_ids
        return [self._source(tuple(source), text) for source, text in zip(ids, texts, strict=True)]

    def prompt(self) -> Ids:
        """Return what the decoder reads before it predicts anything: the start and perhaps a language code."""
        if self.target_id is None:
            return (self.start,)
        return self._encoded((), [self.tokenizer(text_target="x").input_ids]).prompt

    def _encoded(self, source: Sequence[int], labels: Sequence[Sequence[int]]) -> EncodedExample:
        """Return an example whose beginning the decoder reads, while the rest of the labels is predicted.

        A language code at the beginning (NLLB, M2M-100, mBART-50) is forced in translation and so not predicted;
        mBART has it behind the end of the sentence and starts the decoder from it.
        """
        prompt = [self.start]
        candidates = [list(label) for label in labels]
        code = self.target_id
        if code is not None and all(c[0] == code for c in candidates):
            prompt, candidates = [self.start, code], [c[1:] for c in candidates]
        elif code is not None and all(c[-1] == code for c in candidates):
            prompt, candidates = [code], [c[:-1] for c in candidates]
        return EncodedExample(tuple(source), tuple(prompt), tuple(map(tuple, candidates)))

    def _limited(self, encoded: EncodedExample, question: ScoringInput) -> EncodedExample:
        limit = self.limit
        if limit is None or encoded.longest <= limit:
            return encoded
        if not self.truncate:
            raise too_long(encoded.longest, limit, question.source)
        source = self._source(encoded.source, question.source)
        room = limit - len(encoded.prompt)
        cut = (source != encoded.source) + sum(len(c) > room for c in encoded.candidates)
        return EncodedExample(source, encoded.prompt, tuple(c[:room] for c in encoded.candidates), cut)

    def _source(self, source: Ids, text: str) -> Ids:
        """A source that is too long loses what stands before the end of the sentence, behind which mBART has a code."""
        if self.limit is None or len(source) <= self.limit:
            return source
        if not self.truncate:
            raise too_long(len(source), self.limit, text)
        kept = 2 if source[-1] == self.source_id else 1
        return (*source[: self.limit - kept], *source[-kept:])

    def _set_languages(self, source: str | None, target: str | None, languages: tuple[str, str]) -> None:
        """Set the languages of a multilingual tokenizer; their codes differ from model to model."""
        codes = _codes(self.tokenizer)
        if not codes:
            if source or target:
                raise AnaphoraError(
                    f"the model has no language codes, so {source or target!r} has no effect. "
                    "Leave source= and target= out of the spec; text that stands before the source is prefix=…"
                )
            return
        self.source_code = source or find_code(languages[0], codes)
        self.target_code = target or find_code(languages[1], codes)
        for given, language in ((self.source_code, languages[0]), (self.target_code, languages[1])):
            if given is None or given not in codes:
                some = ", ".join(sorted(codes)[:8])
                raise AnaphoraError(
                    f"the model has no language code {given or language!r} (it has {some}, …). "
                    "Name them in the spec: KIND:NAME?source=CODE&target=CODE"
                )
        self.tokenizer.src_lang, self.tokenizer.tgt_lang = self.source_code, self.target_code
        self.source_id, self.target_id = codes[self.source_code or ""], codes[self.target_code or ""]


def _codes(tokenizer: Any) -> dict[str, int]:
    """Return the language codes of a multilingual tokenizer with their token ids."""
    if not hasattr(tokenizer, "src_lang"):
        return {}
    known = getattr(tokenizer, "lang_code_to_id", None) or {}
    if not known:
        names = getattr(tokenizer, "additional_special_tokens", None) or getattr(tokenizer, "extra_special_tokens", [])
        known = {name: tokenizer.convert_tokens_to_ids(name) for name in names}
    to_token = getattr(tokenizer, "lang_code_to_token", None)
    if to_token:  # M2M-100: de ↔ __de__
        return {code: tokenizer.convert_tokens_to_ids(token) for code, token in to_token.items()}
    return dict(known)


# Languages as models name them: de, de_DE, deu_Latn, and in words for prompts

# ISO 639-1 → (ISO 639-3 as NLLB has it, script, English name)
LANGUAGES = {
    "ar": ("arb", "Arab", "Arabic"),
    "bg": ("bul", "Cyrl", "Bulgarian"),
    "cs": ("ces", "Latn", "Czech"),
    "da": ("dan", "Latn", "Danish"),
    "de": ("deu", "Latn", "German"),
    "el": ("ell", "Grek", "Greek"),
    "en": ("eng", "Latn", "English"),
    "es": ("spa", "Latn", "Spanish"),
    "et": ("est", "Latn", "Estonian"),
    "fi": ("fin", "Latn", "Finnish"),
    "fr": ("fra", "Latn", "French"),
    "he": ("heb", "Hebr", "Hebrew"),
    "hi": ("hin", "Deva", "Hindi"),
    "hu": ("hun", "Latn", "Hungarian"),
    "it": ("ita", "Latn", "Italian"),
    "ja": ("jpn", "Jpan", "Japanese"),
    "ko": ("kor", "Hang", "Korean"),
    "nl": ("nld", "Latn", "Dutch"),
    "no": ("nob", "Latn", "Norwegian"),
    "pl": ("pol", "Latn", "Polish"),
    "pt": ("por", "Latn", "Portuguese"),
    "ro": ("ron", "Latn", "Romanian"),
    "ru": ("rus", "Cyrl", "Russian"),
    "sv": ("swe", "Latn", "Swedish"),
    "tr": ("tur", "Latn", "Turkish"),
    "uk": ("ukr", "Cyrl", "Ukrainian"),
    "zh": ("zho", "Hans", "Chinese"),
}


def find_code(language: str, codes: Iterable[str]) -> str | None:
    """Return the code among a model's codes that means a language: de, deu_Latn, de_DE."""
    known = list(codes)
    if language in known:
        return language
    if language in LANGUAGES:
        three, script, _ = LANGUAGES[language]
        if f"{three}_{script}" in known:
            return f"{three}_{script}"
    return next((code for code in known if language and code.partition("_")[0] == language), None)


def english_name(language: str) -> str:
    """Return the language in words, as prompts have it; a code that is not known stays as it is."""
    return LANGUAGES[language][2] if language in LANGUAGES else language


# Prompt and candidates as a causal language model reads them, base or chat

# Prompts that ask for a translation: the two built-in ones, and a user's file

BASE_PROMPT = "{source_language}: {source}\n{target_language}:"
CHAT_PROMPT = (
    "Translate the following text from {source_language} into {target_language}. "
    "Answer with the translation only.\n\n{source}"
)
PLACES = ("source", "source_language", "target_language")


def read_prompt(path: str | None) -> str | None:
    """The prompt of a file, exactly as it is there, the last line break included; it must say where the source goes."""
    if path is None:
        return None
    prompt = "\n".join(text_lines(Path(path)))
    with open_binary(Path(path)) as stream:
        prompt += "\n" if stream.read().endswith(b"\n") else ""
    if "{source}" not in prompt:
        raise BadInput(
            path, "the prompt has no {source}", remedy=f"It may have {', '.join(f'{{{p}}}' for p in PLACES)}."
        )
    return prompt


def continued(prompt: str, target: str) -> str:
    """Return a prompt with the candidate after it, as a base model reads them: one line, which ends.

    One space stands between them, and none where the prompt ends in a space or a line break of its own.

    >>> continued("German:", "Es regnet."), continued("German:\\n", "Es regnet.")
    ('German: Es regnet.\\n', 'German:\\nEs regnet.\\n')
    """
    return f"{prompt}{'' if prompt[-1:].isspace() else ' '}{target}\n"


def fill(prompt: str, values: dict[str, str]) -> str:
    """Put values in their places; other braces stay as they are, and what is put in is not looked at again."""
    return re.sub(r"\{(" + "|".join(values) + r")\}", lambda match: values[match[1]], prompt)


# Prompt and candidates as a causal language model reads them, base or chat


class CausalInputs:
    """The tokens of questions put to a language model, the same for every library that computes with them.

    name: the model's, for messages; limit: how many tokens the model takes, None where there is no end
    """

    def __init__(
        self, tokenizer: Any, settings: Mapping[str, str], options: Options, *, name: str, limit: int | None
    ) -> None:
        self.tokenizer, self.limit, self.languages, self.name = tokenizer, limit, options.languages, name
        has_template = getattr(tokenizer, "chat_template", None) is not None
        self.chat = parse_bool(settings["chat"]) if "chat" in settings else has_template
        if self.chat and not has_template:
            raise AnaphoraError(f"{name}: its tokenizer has no chat template. Score it as a base model: {name}?chat=no")
        self.prompt = read_prompt(settings.get("prompt")) or (CHAT_PROMPT if self.chat else BASE_PROMPT)

    def settings(self) -> dict[str, Any]:
        settings = {"prompt": self.prompt, "chat": self.chat}
        if not self.chat:
            return settings
        template = str(self.tokenizer.chat_template)
        return {**settings, "chat_template": hashlib.sha256(template.encode()).hexdigest()[:8]}

    def encode(self, questions: Sequence[ScoringInput]) -> list[EncodedExample]:
        """Return token ids of questions; one that is too long is an error."""
        return [self._encoded(question) for question in questions]

    def prompts(self, texts: Sequence[str]) -> list[Ids]:
        """Return token ids of what asks for the translation of each text; there is room for an answer of one token."""
        prompts = []
        for text in texts:
            ids = self.ids(self.text(text)) or self._first()
            if self.limit is not None and len(ids) >= self.limit:
                raise too_long(len(ids) + 1, self.limit, text, can_truncate=False)  # it would be another prompt
            prompts.append(tuple(ids))
        return prompts

    def answer(self, ids: Sequence[int]) -> str:
        """Return what the model wrote after the prompt, up to the end of the line (base) or of its turn (chat)."""
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True).strip()
        return text if self.chat else text.partition("\n")[0]

    def text(self, source: str, target: str | None = None) -> str:
        """Return the prompt for a source, with or without what is to follow it."""
        languages = map(english_name, self.languages)
        prompt = fill(self.prompt, dict(zip(PLACES, (source, *languages), strict=True)))
        if not self.chat:
            return prompt if target is None else continued(prompt, target)
        messages = [{"role": "user", "content": prompt}]
        if target is not None:
            messages.append({"role": "assistant", "content": target})
        text: str = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=target is None)
        return text

    def _encoded(self, question: ScoringInput) -> EncodedExample:
        """Tokens of prompt and candidate together, cut where the candidates begin.

        A tokenizer may merge across that place; what is read is then the longest beginning that all have in common
        with the prompt, so that every candidate is predicted whole.
        """
        prompt = self.ids(self.text(question.source))
        wholes = [self.ids(self.text(question.source, target)) for target in question.targets]
        shared = common_prefix([prompt, *(whole[:-1] for whole in wholes)])
        start = wholes[0][:shared] or self._first()
        encoded = EncodedExample((), tuple(start), tuple(tuple(whole[shared:]) for whole in wholes))
        if self.limit is not None and encoded.longest > self.limit:
            raise too_long(encoded.longest, self.limit, question.source, can_truncate=False)
        return encoded

    def ids(self, text: str) -> list[int]:
        """Return the token ids of a text that holds the prompt."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=not self.chat).input_ids  # a template writes its own
        return ids

    def _first(self) -> list[int]:
        """Return what a model reads that is given nothing."""
        tokens = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id)
        first = next((token for token in tokens if token is not None), None)
        if first is None:
            raise AnaphoraError(f"{self.name}: its tokenizer has no token for the beginning or end of a text")
        return [first]
