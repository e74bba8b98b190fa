"""Signatures in the style of sacreBLEU: one line that says how a figure was made."""

from __future__ import annotations

from anaphora.evaluation.result import Result, Settings


def short(result: Result) -> str:
    """What differs between figures: the suite, the context, normalisation, ties, the version; and what is unusual."""
    parts = ["ctr", f"s:{result.suite}@{result.sha256[:6]}"]
    if result.context is not None:
        parts.append(f"ctx:{result.context}")
    parts += [f"norm:{result.settings.normalize}", "tie:wrong", *unusual(result.settings), *_sampling(result.settings)]
    return "|".join([*parts, f"v:{result.version}"])


def unusual(settings: Settings) -> list[str]:
    """Settings that are named in a short signature only where they are not the usual ones."""
    parts = ["better:lower"] if settings.minimize else []
    if settings.confidence != Settings().confidence:
        parts.append(f"conf:{settings.confidence:g}")
    return parts


def long(result: Result) -> str:
    """All settings, in words."""
    settings = result.settings
    return "|".join(
        [
            "contrastive",
            f"suite:{result.suite}@{result.sha256}",
            f"languages:{result.languages}",
            f"context:{result.context or 'unknown'}",
            f"normalisation:{settings.normalize}",
            f"better:{'lower' if settings.minimize else 'higher'}",
            "ties:wrong",
            f"interval:{settings.interval}",
            f"confidence:{settings.confidence:g}",
            f"resampled:{settings.resample or 'items'}",
            f"samples:{settings.samples}" if settings.interval == "bootstrap" else "samples:none",
            f"seed:{settings.seed}" if settings.interval == "bootstrap" else "seed:none",
            f"version:{result.version}",
        ]
    )


def _sampling(settings: Settings) -> list[str]:
    if settings.interval != "bootstrap":
        return []
    unit = f":{settings.resample}" if settings.resample else ""
    return [f"ci:bs{settings.samples}{unit}", f"seed:{settings.seed}"]
