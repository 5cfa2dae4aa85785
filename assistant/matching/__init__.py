"""Which entries the evidence speaks for: exact patterns, fuzzy patterns, questions."""
