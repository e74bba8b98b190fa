"""Suites: every published test set of the field as Examples under a header."""
