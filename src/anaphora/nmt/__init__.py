"""Context-aware translation models: train them, score with them, translate with them."""
