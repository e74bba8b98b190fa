"""From runs to results: decisions, breakdowns, intervals, paired tests, signatures."""
