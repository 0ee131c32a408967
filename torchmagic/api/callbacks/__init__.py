"""Callbacks by which trainers of other packages open a watched run, for those who prefer them to a magic."""
