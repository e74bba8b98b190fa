"""CTranslate2 translators and generators."""
