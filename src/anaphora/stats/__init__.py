"""Intervals, paired tests, correlation and agreement: all statistics, over arrays. Knows no other package but core."""
