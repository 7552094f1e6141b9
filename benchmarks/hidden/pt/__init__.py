"""The original networks of the catalogue, by kinds of mistakes."""
