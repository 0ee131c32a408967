"""The room of the ways out: runs to files and to trackers."""
