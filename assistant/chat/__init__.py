"""The chat: a frozen session, one step a message, a thin loop around it."""
