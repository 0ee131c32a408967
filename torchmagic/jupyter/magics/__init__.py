"""The magics, one file each, named as they are typed."""
