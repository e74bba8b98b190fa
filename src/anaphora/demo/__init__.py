"""What Anaphora does, in five minutes and on its own data."""
