"""The same scoring in several processes or on a Ray cluster."""
