"""Judging translations against references."""
