"""How good are metrics? Correlation with human judgements."""
