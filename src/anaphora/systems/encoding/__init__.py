"""From text to what a model reads: token ids, language codes, prompts."""
