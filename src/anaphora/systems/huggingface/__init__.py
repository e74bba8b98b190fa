"""Hugging Face models in torch, and the prefix-tree scorer that they share."""
