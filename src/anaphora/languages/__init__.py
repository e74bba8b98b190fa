"""What the tool knows of languages, as data files."""
