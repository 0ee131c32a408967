"""This room is the names of the debugging documents, over the engines below."""
