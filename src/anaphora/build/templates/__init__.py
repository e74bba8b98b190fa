"""ContraCAT's templates (Stojanovski et al. 2020, §6) and others: templates, word lists and grammars as data files."""
