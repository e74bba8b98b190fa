"""METEOR (Denkowski and Lavie 2014)."""
