"""What people who write entries need: reasons of a match, tests, gaps, a first draft."""
