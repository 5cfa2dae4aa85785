"""What text becomes: sources, lines without their wrappers, tracebacks, evidence. The ground floor."""
