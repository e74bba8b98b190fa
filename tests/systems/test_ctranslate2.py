"""`ct2:`: tiny models of every family, converted; the baseline is the same model in `hf:` or `lm:`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

ctranslate2 = pytest.importorskip("ctranslate2")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of
from anaphora.systems import Translator, load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.ctranslate2 import CTranslate2System, batches, read_model_file
from anaphora.systems.scoring import score_suite

EXAMPLES = list(islice(iter(demo_suite()), 0, 400, 17))
OPTIONS = Options(languages=("en", "de"), context=Context(1), threads=1, batch_tokens=400)
SMALL = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 128,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "scale_embedding": True,
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]

Make = Callable[[Any, Any], Any]
Model = tuple[str, str]  # specs: as Transformers has it, converted


@pytest.fixture(scope="session")
def made(
    tmp_path_factory: pytest.TempPathFactory, tiny_marian: Path, tiny_llama: Path, opinionated: Make
) -> Callable[[str], Model]:
    """A model by its family, in both formats; made when it is first asked for."""
    folder = tmp_path_factory.mktemp("ct2")
    pieces = [piece for piece in json.loads((tiny_marian / "vocab.json").read_text()) if piece[0] != "<"]
    makers = {"marian": _marian, "nllb": _nllb, "mbart": _mbart, "t5": _t5, "llama": _llama, "gpt2": _gpt2}
    known: dict[str, Model] = {}

    def make(family: str) -> Model:
        if family not in known:
            source, target = folder / family, folder / f"{family}-ct2"
            tokens = {"marian": tiny_marian, "llama": tiny_llama, "gpt2": tiny_llama}.get(family, pieces)
            model, tokenizer = makers[family](tokens, opinionated)
            model.save_pretrained(source)
            tokenizer.save_pretrained(source)
            ctranslate2.converters.TransformersConverter(str(source)).convert(str(target))
            for file in source.iterdir():
                if not (target / file.name).exists() and file.suffix != ".safetensors":
                    shutil.copy(file, target)
            known[family] = f"{'lm' if family in ('llama', 'gpt2') else 'hf'}:{source}", f"ct2:{target}"
        return known[family]

    return make


def _marian(folder: Path, make: Make) -> tuple[Any, Any]:
    """As real ones are: <pad> has no vector. The converter drops it, so here it also has no probability."""
    model = transformers.MarianMTModel.from_pretrained(folder)
    with torch.no_grad():
        model.get_input_embeddings().weight[model.config.pad_token_id] = 0
        model.final_logits_bias[:, model.config.pad_token_id] = -1e4
    model.generation_config.forced_eos_token_id = None  # what the model wants to have in the last place may be there
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def _nllb(pieces: list[str], make: Make) -> tuple[Any, Any]:
    vocabulary = {piece: n for n, piece in enumerate([*SPECIAL, *pieces])}
    tokenizer = transformers.NllbTokenizer(vocab=vocabulary, merges=[])
    config = transformers.M2M100Config(vocab_size=len(tokenizer), **SMALL)
    return make(transformers.M2M100ForConditionalGeneration, config), tokenizer


def _mbart(pieces: list[str], make: Make) -> tuple[Any, Any]:
    tokenizer = transformers.MBartTokenizer(vocab=[(piece, -float(n)) for n, piece in enumerate([*SPECIAL, *pieces])])
    more = {
        "normalize_before": True,
        "normalize_embedding": True,
        "tokenizer_class": "MBartTokenizer",
        "forced_eos_token_id": None,
    }
    config = transformers.MBartConfig(vocab_size=len(tokenizer), **SMALL, **more)
    return make(transformers.MBartForConditionalGeneration, config), tokenizer


def _t5(pieces: list[str], make: Make) -> tuple[Any, Any]:
    vocabulary = [(piece, -float(n)) for n, piece in enumerate(["<pad>", "</s>", "<unk>", *pieces])]
    tokenizer = transformers.T5Tokenizer(vocab=vocabulary, extra_ids=0)
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
    return make(
        transformers.T5ForConditionalGeneration, transformers.T5Config(vocab_size=len(tokenizer), **sizes)
    ), tokenizer


def _llama(folder: Path, make: Make) -> tuple[Any, Any]:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    model.config.max_position_embeddings = 4096  # its positions are relative: it takes as much as we say
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def _gpt2(folder: Path, make: Make) -> tuple[Any, Any]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 192, "bos_token_id": 1, "eos_token_id": 2}
    config = transformers.GPT2Config(vocab_size=len(tokenizer), **sizes)
    return make(transformers.GPT2LMHeadModel, config), tokenizer


@pytest.fixture
def marian(made: Callable[[str], Model]) -> str:
    return made("marian")[1]


@pytest.fixture
def copied(marian: str, tmp_path: Path) -> Path:
    """A converted model that a test may damage."""
    return Path(shutil.copytree(marian.removeprefix("ct2:"), tmp_path / "model"))


def answers(spec: str, options: Options = OPTIONS, examples: Sequence[Example] = EXAMPLES) -> list[CandidateScores]:
    scores = dict(load_system(spec, options).score(examples))
    assert sorted(scores) == list(range(len(examples)))
    return [scores[number] for number in range(len(examples))]


def assert_same(one: list[CandidateScores], other: list[CandidateScores]) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.scores == pytest.approx(b.scores, abs=1e-4, rel=0)
        assert max(range(len(a.scores)), key=a.scores.__getitem__) == max(
            range(len(b.scores)), key=b.scores.__getitem__
        )
        assert (a.tokens, [*a.undecidable], a.truncated) == (b.tokens, [*b.undecidable], b.truncated)


def example(source: str, *targets: str) -> Example:
    return Example("x", (source,), tuple((target,) for target in targets), 0)


# Exact


@pytest.mark.parametrize("family", ["marian", "nllb", "mbart", "t5", "llama", "gpt2"])
def test_scores_are_those_of_transformers(family: str, made: Callable[[str], Model]) -> None:
    theirs, ours = made(family)
    query = "?chat=no" if family in ("llama", "gpt2") else ""
    assert_same(answers(theirs + query), answers(ours + query))


@pytest.mark.parametrize("scope", ["current", "pronoun"])
def test_a_part_of_the_candidate(scope: str, made: Callable[[str], Model]) -> None:
    for theirs, ours in map(made, ("marian", "llama")):
        options = replace(OPTIONS, scope=scope)
        assert_same(answers(theirs, options), answers(ours, options))


def test_chat_and_prompt(made: Callable[[str], Model], tmp_path: Path) -> None:
    theirs, ours = made("llama")
    assert_same(answers(theirs), answers(ours))  # it has a template, which is used
    (tmp_path / "prompt").write_text("Say {source} in {target_language}.\n", encoding="utf-8")
    query = f"?chat=no&prompt={tmp_path / 'prompt'}"
    assert_same(answers(theirs + query), answers(ours + query))
    assert load_system(ours + query, OPTIONS).settings()["prompt"] == "Say {source} in {target_language}.\n"
    assert answers(ours)[0].scores != answers(ours + query)[0].scores


def test_prefix(made: Callable[[str], Model]) -> None:
    theirs, ours = made("marian")
    assert_same(answers(f"{theirs}?prefix=Old+"), answers(f"{ours}?prefix=Old+"))
    assert answers(ours)[0].scores != answers(f"{ours}?prefix=Old+")[0].scores


def test_language_codes(made: Callable[[str], Model]) -> None:
    ours = made("nllb")[1]
    settings = load_system(ours, OPTIONS).settings()
    assert (settings["source_code"], settings["target_code"]) == ("eng_Latn", "deu_Latn")
    assert load_system(f"{ours}?target=fra_Latn", OPTIONS).settings()["target_code"] == "fra_Latn"
    with pytest.raises(AnaphoraError, match="no language code 'xx'"):
        load_system(f"{ours}?target=xx", OPTIONS)


@pytest.mark.parametrize("budget", [1, 60, 100_000])
def test_any_batches_give_the_same(budget: int, marian: str) -> None:
    assert_same(answers(marian, replace(OPTIONS, batch_tokens=budget)), answers(marian))


def test_same_bits_each_time(marian: str) -> None:
    assert answers(marian) == answers(marian)


def test_margins_only(made: Callable[[str], Model]) -> None:
    whole, margins = answers(made("marian")[1]), answers(made("marian")[1], replace(OPTIONS, margins_only=True))
    for a, b in zip(whole, margins, strict=True):
        assert [s - a.scores[0] for s in a.scores] == pytest.approx([s - b.scores[0] for s in b.scores], abs=1e-4)
        assert min(b.scores) > min(a.scores)


def test_candidates_that_are_the_same_to_it(marian: str) -> None:
    question = example("It was old.", "Er war alt.", "Sie war alt.", "Er  war alt.")
    (answer,) = answers(marian, examples=[question])
    assert list(answer.undecidable) == [(0, 2)]
    assert answer.scores[0] == answer.scores[2]
    (only,) = answers(marian, replace(OPTIONS, margins_only=True), [example("It was old.", "Er war.", "Er  war.")])
    assert list(only.scores) == [0.0, 0.0]


def test_batches_keep_to_their_budget() -> None:
    encoded = [EncodedExample((1,) * (3 + n % 7), (0,), ((1, 2), (1, 3, 2))) for n in range(40)]
    actual = list(batches(encoded, 60))
    assert sorted(n for batch in actual for n in batch) == list(range(40))
    assert all(2 * len(batch) * max(encoded[n].longest for n in batch) <= 60 for batch in actual)
    lengths = [encoded[n].longest for batch in actual for n in batch]
    assert lengths == sorted(lengths)
    assert [len(batch) for batch in batches(encoded, 1)] == [1] * 40


def test_model_that_adds_the_end_of_the_source_itself(copied: Path, marian: str) -> None:
    """As models of Marian's own format: the tokenizer's </s> must not come on top."""
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"add_source_eos": True}))
    assert_same(answers(f"ct2:{copied}"), answers(marian))


# Long texts


def test_nothing_is_cut_at_1024_tokens(made: Callable[[str], Model]) -> None:
    """Where the library would, without a word."""
    long = " ".join(f"It was very old, {'my brother and ' * (n % 3)}she found it." for n in range(60))
    question = [example(long, "Er war sehr alt.", "Sie war sehr alt.")]
    for family, query in (("t5", ""), ("llama", "?chat=no")):
        theirs, ours = made(family)
        system = load_system(ours + query, OPTIONS)
        assert isinstance(system, CTranslate2System)
        (encoded,) = system.engine.tokens.encode([OPTIONS.context.scoring_input(question[0])])
        assert encoded.longest > 1100
        assert_same(answers(theirs + query, examples=question), answers(ours + query, examples=question))


def test_too_long_source_is_refused(marian: str) -> None:
    with pytest.raises(AnaphoraError, match=r"^\d+ tokens, but the model takes 128: 'It was .*--truncate$"):
        answers(marian, examples=[*EXAMPLES, example("It was very old. " * 40, "Er war alt.", "Sie war alt.")])


def test_too_long_target_is_refused(marian: str) -> None:
    with pytest.raises(AnaphoraError, match="but the model takes 128"):
        answers(marian, examples=[example("It was.", "Er war alt. " * 50, "Sie war alt.")])


def test_cut_and_counted(made: Callable[[str], Model]) -> None:
    theirs, ours = made("marian")
    options = replace(OPTIONS, truncate=True)
    questions = [
        example("It was very old. " * 40, "Er war alt.", "Sie war alt."),
        example("It was very old. " * 40, "Er war alt. " * 50, "Sie war alt."),
        *EXAMPLES[:3],
    ]
    actual = answers(ours, options, questions)
    assert [answer.truncated for answer in actual] == [1, 2, 0, 0, 0]
    assert_same(answers(theirs, options, questions), actual)


def test_too_long_prompt_is_refused(made: Callable[[str], Model]) -> None:
    spec = f"{made('gpt2')[1]}?chat=no"
    long = example("It was very old. " * 40, "Er war alt.", "Sie war alt.")
    for options in (OPTIONS, replace(OPTIONS, truncate=True)):  # a prompt that is cut asks something else
        with pytest.raises(AnaphoraError, match=r"tokens, but the model takes 192: .* Use less --context$"):
            answers(spec, options, [long])
    system = load_system(spec, OPTIONS)
    assert isinstance(system, Translator)
    with pytest.raises(AnaphoraError, match="takes 192"):
        system.translate([long.source[0]])


def test_the_tokenizer_may_know_the_limit(made: Callable[[str], Model], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made("llama")[1].removeprefix("ct2:"), tmp_path / "llama"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"model_max_length": 20}))
    with pytest.raises(AnaphoraError, match="takes 20"):
        answers(f"ct2:{folder}")


# Translation


@pytest.mark.parametrize("family", ["marian", "nllb", "mbart", "t5", "llama", "gpt2"])
@pytest.mark.parametrize("beams", [1, 3])
def test_translations_are_those_of_transformers(family: str, beams: int, made: Callable[[str], Model]) -> None:
    theirs, ours = (load_system(spec, OPTIONS) for spec in made(family))
    assert isinstance(theirs, Translator)
    assert isinstance(ours, Translator)
    texts = ["It was very old.", "I found the lamp.", "She sold the guitar yesterday. That took a while."]
    assert theirs.translate(texts, beams=beams, max_tokens=9) == ours.translate(texts, beams=beams, max_tokens=9)


def test_nothing_translates_to_nothing(marian: str) -> None:
    system = load_system(marian, OPTIONS)
    assert isinstance(system, Translator)
    assert system.translate(["", "It was."])[0] == ""


def test_translations_do_not_depend_on_neighbors(marian: str) -> None:
    system = load_system(marian, replace(OPTIONS, batch_tokens=128))
    assert isinstance(system, Translator)
    texts = [" ".join(e.source[1:]) for e in EXAMPLES]
    assert system.translate(texts) == [system.translate([text])[0] for text in texts]
    assert system.translate([]) == []


def test_longest_translation_fits(made: Callable[[str], Model]) -> None:
    """More tokens than there are positions are asked for: what fits is written."""
    for family in ("marian", "gpt2"):
        system = load_system(made(family)[1], OPTIONS)
        assert isinstance(system, Translator)
        assert len(system.translate(["It was very old.", "I found it."], max_tokens=5000)) == 2


def test_translation_of_what_is_too_long(marian: str) -> None:
    long = "It was very old. " * 40
    system, cutting = load_system(marian, OPTIONS), load_system(marian, replace(OPTIONS, truncate=True))
    assert isinstance(system, Translator)
    assert isinstance(cutting, Translator)
    with pytest.raises(AnaphoraError, match="takes 128"):
        system.translate(["It was.", long])
    assert len(cutting.translate(["It was.", long])) == 2


# Runs


def small_suite() -> Suite:
    return suite_of(demo_suite().header, lambda: iter(EXAMPLES))


def test_interrupted_run_is_the_same_when_resumed(marian: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = score_suite(small_suite(), marian, tmp_path / "whole.jsonl", options=OPTIONS)
    file = tmp_path / "run.jsonl"
    part = tmp_path / "run.jsonl.part"

    for done in (1, 7, len(EXAMPLES) - 2):

        def stop(count: int, total: int, done: int = done) -> None:
            if count == done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            score_suite(small_suite(), marian, file, options=OPTIONS, resume=part.exists(), progress=stop)
        part.write_bytes(part.read_bytes() + b'{"n": 3, "id')  # as it was being written
    sizes: list[int] = []
    batch = CTranslate2System._batch

    def counted(self: CTranslate2System, numbers: Sequence[int], encoded: Sequence[EncodedExample]) -> Any:
        sizes.append(len(numbers))
        return batch(self, numbers, encoded)

    monkeypatch.setattr(CTranslate2System, "_batch", counted)
    run = score_suite(small_suite(), marian, file, options=OPTIONS, resume=True)
    assert run.path.read_bytes() == whole.path.read_bytes()
    assert len(sizes) <= 2, "only what was not done was computed"


def test_another_model_is_not_mixed_in(copied: Path, made: Callable[[str], Model], tmp_path: Path) -> None:
    spec = f"ct2:{copied}"
    score_suite(small_suite(), spec, tmp_path / "run.jsonl", options=OPTIONS)
    data = bytearray((copied / "model.bin").read_bytes())
    data[len(data) // 2] ^= 1
    (copied / "model.bin").write_bytes(bytes(data))
    with pytest.raises(AnaphoraError, match="weights: "):
        score_suite(small_suite(), spec, tmp_path / "run.jsonl", options=OPTIONS, resume=True)


def test_settings(marian: str) -> None:
    settings = load_system(marian, OPTIONS).settings()
    assert settings["compute_type"] == "float32"
    assert settings["ctranslate2"] == ctranslate2.__version__
    assert settings["tokenizer"].startswith("MarianTokenizer/151@")  # and a hash of the vocabulary
    assert len(settings["weights"]) == 16
    assert json.loads(json.dumps(settings)) == settings
    quantized = load_system(f"{marian}?compute_type=int8", OPTIONS).settings()
    assert quantized["compute_type"].startswith("int8")
    assert quantized["weights"] == settings["weights"]


@pytest.mark.parametrize("ask", [answers, lambda spec: load_system(spec, OPTIONS).translate(["It broke."])])
def test_a_vocabulary_that_does_not_fit_is_one_line(copied: Path, ask: Callable[[str], object]) -> None:
    (copied / "shared_vocabulary.json").write_text("[]")
    with pytest.raises(AnaphoraError, match=r"model: the token '\S+' of the tokenizer is not in"):
        ask(f"ct2:{copied}")


def test_memory_that_runs_out(marian: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answers(marian)
    system = load_system(marian, OPTIONS)
    assert isinstance(system, CTranslate2System)
    score = system.engine.score

    def little(rows: Any) -> Any:
        if len(rows) > 3:  # one example
            raise RuntimeError("CUDA failed with error out of memory")
        return score(rows)

    monkeypatch.setattr(system.engine, "score", little)
    scores = dict(system.score(EXAMPLES))
    assert_same([scores[n] for n in range(len(EXAMPLES))], expected)

    def nothing(rows: Any) -> Any:
        raise RuntimeError("CUDA failed with error out of memory")

    monkeypatch.setattr(system.engine, "score", nothing)
    with pytest.raises(AnaphoraError, match=r"cannot score \d+ tokens: CUDA failed with error out of memory"):
        list(system.score(EXAMPLES))


# Bad input


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?compute_tipe=int8", r"unknown setting 'compute_tipe'.*did you mean compute_type"),
        ("?prompt=x", "unknown setting 'prompt'"),  # for generators
        ("?compute_type=int3", "cannot be loaded: Invalid compute type: int3"),
        ("?device=abacus", "cannot be loaded: .*abacus"),
        ("?tokenizer=/nowhere", "/nowhere: the tokenizer cannot be loaded"),
    ],
)
def test_settings_that_cannot_be(marian: str, query: str, message: str) -> None:
    with pytest.raises(AnaphoraError, match=message) as caught:
        load_system(marian + query, OPTIONS)
    assert "\n" not in str(caught.value)


def test_settings_of_translators_are_not_for_generators(made: Callable[[str], Model]) -> None:
    with pytest.raises(AnaphoraError, match="unknown setting 'target'"):
        load_system(f"{made('llama')[1]}?target=de", OPTIONS)


def test_no_model(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"not a CTranslate2 model: .*ct2-transformers-converter"):
        load_system(f"ct2:{tmp_path}", OPTIONS)
    with pytest.raises(AnaphoraError, match="not a CTranslate2 model"):
        load_system(f"ct2:{tmp_path / 'nowhere'}", OPTIONS)


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x06\0\0\0\x05\0abcd\0\x01\0\0\0\xff\0\0\0"])
def test_damaged_model(copied: Path, data: bytes) -> None:
    (copied / "model.bin").write_bytes(data)
    with pytest.raises(AnaphoraError, match=r"model\.bin: not the weights of a CTranslate2 model"):
        load_system(f"ct2:{copied}", OPTIONS)


def test_tokenizer_of_another_model(marian: str, tiny_llama: Path) -> None:
    """The library would take every token that it does not know for an unknown word."""
    with pytest.raises(AnaphoraError, match=r"not in the model.s vocabulary\. .*\?tokenizer=NAME_OR_PATH"):
        answers(f"{marian}?tokenizer={tiny_llama}")


def test_tokenizer_elsewhere(marian: str, copied: Path, tiny_marian: Path) -> None:
    for name in ("tokenizer_config.json", "vocab.json", "source.spm", "target.spm"):
        (copied / name).unlink()
    with pytest.raises(AnaphoraError, match=r"ct2:.*\?tokenizer=NAME_OR_PATH .*the tokenizer cannot be loaded"):
        load_system(f"ct2:{copied}", OPTIONS)
    assert answers(f"ct2:{copied}?tokenizer={tiny_marian}") == answers(marian)


def test_vocabularies_of_their_own(copied: Path, tiny_marian: Path) -> None:
    shutil.copy(tiny_marian / "vocab.json", copied / "target_vocab.json")
    config = json.loads((copied / "tokenizer_config.json").read_text())
    (copied / "tokenizer_config.json").write_text(json.dumps(config | {"separate_vocabs": True}))
    with pytest.raises(AnaphoraError, match="separate vocabularies"):
        load_system(f"ct2:{copied}", OPTIONS)


# The files


def test_what_the_file_says(made: Callable[[str], Model]) -> None:
    files = {
        family: read_model_file(Path(made(family)[1].removeprefix("ct2:")))
        for family in ("marian", "t5", "llama", "gpt2")
    }
    assert {family for family, file in files.items() if file.generator} == {"llama", "gpt2"}
    assert {family: file.positions for family, file in files.items()} == {
        "marian": 128,
        "t5": None,
        "llama": None,
        "gpt2": 192,
    }
    assert [family for family, file in files.items() if file.relative] == ["t5"]


def test_old_vocabulary(copied: Path) -> None:
    new = read_model_file(copied).vocabulary("source")
    assert new
    (copied / "shared_vocabulary.txt").write_text("\n".join(new) + "\n", encoding="utf-8")
    (copied / "shared_vocabulary.json").unlink()
    assert read_model_file(copied).vocabulary("source") == new
    (copied / "shared_vocabulary.txt").unlink()
    assert read_model_file(copied).vocabulary("target") is None
