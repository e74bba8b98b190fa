"""Metrics of other packages: BLEU, chrF and TER of sacreBLEU, with its signatures (Post 2018), and COMET."""

from __future__ import annotations

import contextlib
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import all_finite
from anaphora.metrics.corpus import Measured, Texts
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import SufficientStats, ratio


def bleu(texts: Texts, *, effective_order: bool = False, **_: Any) -> Measured:
    """BLEU with sacreBLEU's tokenizer of the target language; tokenized texts are taken as they are.

    effective_order: leave out orders of n-grams that have no match: for single sentences
    """
    settings: dict[str, Any] = {"tokenize": "none", "force": True} if texts.tokenize == "none" else {}
    try:
        metric = BLEU(trg_lang=texts.languages[1], effective_order=effective_order, **settings)
    except (ImportError, RuntimeError) as error:  # a tokenizer that is an extra of sacreBLEU: Japanese, Korean
        raise AnaphoraError(f"sacreBLEU: {error}") from None
    return _measured(metric, texts)


def chrf(texts: Texts, **_: Any) -> Measured:
    return _measured(CHRF(), texts)


def chrf_plus_plus(texts: Texts, **_: Any) -> Measured:
    """chrF with unigrams and bigrams of words."""
    return _measured(CHRF(word_order=2), texts)


def ter(texts: Texts, **_: Any) -> Measured:
    return _measured(TER(), texts, lower_is_better=True)


def _measured(metric: BLEU | CHRF | TER, texts: Texts, *, lower_is_better: bool = False) -> Measured:
    """A sacreBLEU metric from the statistics of each sentence, on which its own tests are based as well.

    These two hooks of sacreBLEU are not public, but every version from 2.0 has them, and they spare us a second
    implementation of its figures. A test compares the results with its public functions.
    """

    def figures(totals: Floats) -> dict[str, Floats]:
        return {"score": np.array([metric._compute_score_from_stats(row).score for row in totals.tolist()])}

    compared = texts.as_compared
    references = list(compared.references.values())
    sums = {
        system: SufficientStats(np.array(metric._extract_corpus_statistics(text, references), float), figures)
        for system, text in compared.systems.items()
    }
    name = metric.corpus_score(references[0][:1], [text[:1] for text in references]).name  # as printed: chrF2++
    return Measured(f"{name}|{metric.get_signature()}{texts.norm}", sums, lower_is_better=lower_is_better)


# COMET through its own package (Rei et al. 2020), which is not installed with Anaphora: unbabel-comet 2.2 needs
# transformers 4, numpy 1 and huggingface-hub 0, Anaphora's models need transformers 5: two environments are needed.

MODEL = "Unbabel/wmt22-comet-da"


def comet(
    texts: Texts,
    *,
    comet_model: str = MODEL,
    comet_gpus: int = 0,
    loaded: Any = None,
    reference_free: bool = False,
    **_: Any,
) -> Measured:
    """The mean of the sentences' scores.

    comet_model: a name of the hub, or a checkpoint on this machine (.ckpt); loaded: the model, where it is loaded
    reference_free: whether the model reads source and translation only
    """
    if texts.source is None:
        raise AnaphoraError("COMET needs the source. Pass it with -s")
    if texts.more_references:
        raise AnaphoraError("COMET supports only one reference. Pass one -r, or leave COMET out")
    model, number = loaded or load_comet(comet_model), "unknown"
    compared = texts.as_compared
    sums = {}
    for system, text in compared.systems.items():
        rows = zip(compared.source or (), text, compared.reference, strict=True)
        items = [{"src": source, "mt": target, "ref": reference} for source, target, reference in rows]
        if reference_free:
            items = [{"src": item["src"], "mt": item["mt"]} for item in items]
        with contextlib.redirect_stdout(sys.stderr):  # it reports on stdout, which is for the result
            scores = model.predict(items, batch_size=8, gpus=comet_gpus, progress_bar=False).scores
        all_finite(list(scores), f"{comet_model}: COMET scores of {system}", "Check the model and its precision.")
        columns = np.column_stack([np.asarray(scores, float), np.ones(len(scores))])
        sums[system] = SufficientStats(columns, lambda totals: {"score": ratio(totals[:, 0], totals[:, 1])})
    with contextlib.suppress(PackageNotFoundError):
        number = version("unbabel-comet")
    return Measured(f"COMET|model:{comet_model}|version:{number}{texts.norm}", sums, decimals=4)


def load_comet(model: str) -> Any:
    """Load a COMET model by its name or path."""
    try:
        from comet import download_model, load_from_checkpoint  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        if error.name != "comet":
            raise
        raise AnaphoraError(
            "COMET needs unbabel-comet, which is not installed. Install it with: pip install unbabel-comet "
            "(in an environment of its own: it needs an older transformers than Anaphora's models)"
        ) from None
    with contextlib.redirect_stdout(sys.stderr):
        return load_from_checkpoint(model if model.endswith(".ckpt") else download_model(model))
