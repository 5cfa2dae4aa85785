"""From matches and facts to an answer: root first, causes judged, fixes that fit."""
