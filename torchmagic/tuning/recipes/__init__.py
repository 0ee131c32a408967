"""One recipe a file: what it changes, when it applies, and what it may cost in exactness."""
