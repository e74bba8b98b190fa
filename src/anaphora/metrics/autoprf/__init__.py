"""AutoPRF (Hardmeier and Federico 2010)."""
