"""The commands of ``python -m torchmagic``, one file a command, named as it is typed."""
