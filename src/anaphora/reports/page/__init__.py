"""The report: everything that runs say, as one HTML file that needs nothing else, or as parts for papers and wikis."""
