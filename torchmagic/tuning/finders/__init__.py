"""Finders: batch size, loader settings and threads, each chosen by measuring, and nothing of the user's changed."""
