"""ContraCAT's templates and others like them: a small language of templates, word lists and grammars as data files."""
