"""Building suites and training data: templates, attacks, mining and augmentation."""
