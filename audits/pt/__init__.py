"""Originals with arguments or changes of their own; a file for each package of ports."""
