"""Frozen facts about a run, columnar series, and the codec that writes and reads them."""
