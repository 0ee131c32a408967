"""This file is the missing: what was asked for and is not there."""


class MissingError(LookupError):
    """There is no such run or series; the message is one line that says which there are."""
