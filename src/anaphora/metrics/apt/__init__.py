"""APT (Miculicich Werlen and Popescu-Belis 2017) in three variants."""
