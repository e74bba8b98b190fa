"""Results as people read them: tables on a terminal, in Markdown, LaTeX and TSV."""
