"""The checks of ``ascendfa validate``, one subject per file."""
