"""This file is the exit statuses of our own; those of a program that is run are the program's."""

OK = 0
# A wrong option, a run or file that is not there, a file that cannot be written.
WRONG = 2
# Findings of ``--fail-on``; a program's own failure outweighs them.
FINDINGS = 3
