"""The user's own loop as what modes are compared on: found in a cell, and run on copies of all that it uses."""
