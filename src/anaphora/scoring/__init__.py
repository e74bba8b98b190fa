"""Prefix-tree scoring on torch: trees, packed rows, stepwise decoding, batches. Knows torch, and no system."""
