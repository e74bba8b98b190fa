"""The measures of the DiscoMT shared tasks."""
