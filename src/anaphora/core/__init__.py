"""The foundation of all other packages, none of which it imports: errors, files, registries, workers."""
