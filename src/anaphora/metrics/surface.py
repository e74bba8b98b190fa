"""BLEU, chrF and TER: sacreBLEU's, with its signatures (Post 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.corpus import Measured, Texts
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import SufficientStats


def bleu(texts: Texts, **_: Any) -> Measured:
    """BLEU with sacreBLEU's tokenizer of the target language; tokenized texts are taken as they are."""
    settings: dict[str, Any] = {"tokenize": "none", "force": True} if texts.tokenize == "none" else {}
    try:
        metric = BLEU(trg_lang=texts.languages[1], **settings)
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
    """A sacreBLEU metric by the statistics of each sentence, which its own tests are made from, too.

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
