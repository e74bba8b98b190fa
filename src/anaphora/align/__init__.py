"""Word alignment: backends, symmetrisation, and the rescue of pronouns."""
