"""Rules that explain the exception which ended the cell."""
