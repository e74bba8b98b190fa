"""Programs that score lines."""
