"""Texts too large to read whole: one pass over their bytes finds the pieces worth reading."""
