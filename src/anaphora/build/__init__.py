"""Makers of suites."""
