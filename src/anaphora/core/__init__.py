"""What everything else stands on: errors, files, registries, workers. Knows no other package."""
