"""Attacks on a suite (ContraCAT §5): small changes to the context that must not change the answer."""
