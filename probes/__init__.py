"""What we can ask the machine: facts, and the probes that find them. A leaf."""
