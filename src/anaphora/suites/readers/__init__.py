"""One small reader per published format; each says the format's oddities where it handles them."""
