"""How many processes pay? Two of one thread each are faster than one of two threads (benchmarks/workers.py)."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import parse_qsl

from anaphora.systems.context import split_spec
from anaphora.systems.scoring import SHARD

KINDS = ("hf", "lm", "nmt")  # computed by torch, in this process
GRAPHICS = ("nvidia[0-9]*", "kfd", "dxg")  # devices whose presence means that processors are not what computes
WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
OVERHEAD = 1 << 30  # bytes of a process besides its weights


def sensible_workers(spec: str, examples: int, devices: Path = Path("/dev")) -> int:
    """One for each processor, where a model is computed by processors and each has work and memory; else one."""
    kind, what = split_spec(spec)
    shards = -(-examples // SHARD)
    if kind not in KINDS or shards < 2 or any(any(devices.glob(pattern)) for pattern in GRAPHICS):
        return 1
    name, _, query = what.partition("?")  # what is wrong with the settings is said when the system is loaded
    size = _size(name)
    if size is None or dict(parse_qsl(query)).get("device", "cpu") != "cpu":
        return 1
    return max(1, min(_processors(), shards, _free_memory() // (2 * size + OVERHEAD)))


def _size(name: str) -> int | None:
    """Bytes of a model's weights, if it is on this machine."""
    path = Path(name)
    if path.is_file():
        return path.stat().st_size
    if not path.is_dir():
        try:
            from huggingface_hub import snapshot_download

            path = Path(snapshot_download(name, local_files_only=True))
        except Exception:  # it has to be downloaded first, by one process
            return None
    sizes = [sum(file.stat().st_size for file in path.glob(pattern)) for pattern in WEIGHTS]
    return max(sizes) or None  # the same weights may be there in several formats


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_memory() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # not on this system
        return 0
