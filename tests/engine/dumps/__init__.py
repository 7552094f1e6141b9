"""The comparison of what is on disk."""
