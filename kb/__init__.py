"""What we know: entries and tables, their loader and their expression language. A leaf."""
