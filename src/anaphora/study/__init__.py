"""The human study: a page with questions for annotators, a database of their answers, and their agreement."""
