"""How a diagnosis is told: terminal lines, JSON, Markdown."""
