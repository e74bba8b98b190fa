"""Who is compared in scoring.py: the tree scorer, Hugging Face in padded batches, and CTranslate2, on token ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Question = Any  # anaphora.systems.encoding.EncodedExample
Scores = list[float]  # of all candidates of all questions, in order
Scorer = Callable[[Sequence[Question]], Scores]
Batches = Iterable[list[tuple[int, int]]]  # (question, candidate)


def tree(model: Any) -> Scorer:
    """Anaphora as it scores a suite, but for the tokenizer: which it is not given."""
    from anaphora.scoring.encoded import EncodedExample
    from anaphora.suites.example import Example
    from anaphora.systems.context import Options
    from anaphora.systems.huggingface import NeuralSystem

    class Tokenized(NeuralSystem):
        waiting: Sequence[EncodedExample] = ()

        def encode(self, questions: Sequence[Any]) -> list[EncodedExample]:
            return list(self.waiting)

    system = Tokenized(model, Options())
    empty = Example("", ("",), (("",),), None)

    def score(questions: Sequence[Question]) -> Scores:
        system.waiting = questions
        answers = dict(system.score([empty] * len(questions)))
        return [score for number in range(len(questions)) for score in answers[number].scores]

    return score


def huggingface(model: Any, batches: Callable[[Sequence[Question]], Batches], all_logits: bool = True) -> Scorer:
    """A model's own forward on padded batches, as every toolkit does it.

    all_logits: or, for a causal model, only those behind the shortest prompt of the batch
    """
    import torch
    from torch.nn import functional

    both = model.config.is_encoder_decoder

    def padded(rows: list[list[int]], value: int) -> torch.Tensor:
        longest = max(map(len, rows))
        return torch.tensor([row + [value] * (longest - len(row)) for row in rows])

    def of_batch(rows: list[tuple[Question, int]]) -> torch.Tensor:
        read = padded([[*q.prompt, *q.candidates[k][:-1]] for q, k in rows], 0)
        labels = padded([[-100] * (len(q.prompt) - 1) + [*q.candidates[k]] for q, k in rows], -100)
        if both:
            sources = [[*q.source] for q, _ in rows]
            mask = padded([[1] * len(source) for source in sources], 0)
            arguments = {"input_ids": padded(sources, 0), "attention_mask": mask, "decoder_input_ids": read}
        else:
            mask = padded([[1] * (len(q.prompt) + len(q.candidates[k]) - 1) for q, k in rows], 0)
            arguments = {"input_ids": read, "attention_mask": mask}
            if not all_logits:
                arguments["logits_to_keep"] = read.shape[1] - min(len(q.prompt) for q, _ in rows) + 1
        logits = model(**arguments, use_cache=False).logits
        labels = labels[:, -logits.shape[1] :]
        losses = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none", ignore_index=-100)
        return -losses.view(labels.shape).sum(1)

    @torch.inference_mode()
    def score(questions: Sequence[Question]) -> Scores:
        found: dict[tuple[int, int], float] = {}
        for batch in batches(questions):
            scores = of_batch([(questions[n], k) for n, k in batch]).tolist()
            found |= zip(batch, scores, strict=True)
        return [found[row] for row in rows_of(questions)]

    return score


def rows_of(questions: Sequence[Question]) -> list[tuple[int, int]]:
    return [(n, k) for n, question in enumerate(questions) for k in range(len(question.candidates))]


def in_file_order(size: int) -> Callable[[Sequence[Question]], Batches]:
    def batches(questions: Sequence[Question]) -> Batches:
        rows = rows_of(questions)
        return [rows[start : start + size] for start in range(0, len(rows), size)]

    return batches


def by_length(tokens: int) -> Callable[[Sequence[Question]], Batches]:
    """Batches of like length, with at most N tokens, padding included."""

    def batches(questions: Sequence[Question]) -> Batches:
        def length(row: tuple[int, int]) -> tuple[int, int]:
            question = questions[row[0]]
            target = len(question.prompt) + len(question.candidates[row[1]]) - 1
            return max(len(question.source), target), target

        result: list[list[tuple[int, int]]] = [[]]
        for row in sorted(rows_of(questions), key=length):
            if result[-1] and length(row)[0] * (len(result[-1]) + 1) > tokens:
                result.append([])
            result[-1].append(row)
        return result

    return batches


def ctranslate2(model: Any, tokenizer: Any, folder: Path) -> Callable[[int], Scorer]:
    """The same Marian model converted; given how many tokens a batch has, it sorts by length itself."""
    import copy

    import ctranslate2 as ct2
    from ctranslate2.converters.transformers import MarianMTLoader

    spec = MarianMTLoader()(copy.deepcopy(model), tokenizer)
    spec.validate()
    spec.optimize(quantization=None)
    spec.save(str(folder))
    translator = ct2.Translator(str(folder), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1)
    words = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))

    def of_size(tokens: int) -> Scorer:
        def score(questions: Sequence[Question]) -> Scores:
            pairs = [(questions[n].source, questions[n].candidates[k]) for n, k in rows_of(questions)]
            found = translator.score_batch(
                [[words[i] for i in source] for source, _ in pairs],
                [[words[i] for i in candidate[:-1]] for _, candidate in pairs],  # it adds the end itself
                max_batch_size=tokens,
                batch_type="tokens",
                max_input_length=0,
            )
            return [sum(result.log_probs) for result in found]

        return score

    return of_size
