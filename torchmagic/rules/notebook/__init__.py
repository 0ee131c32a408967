"""This room holds the rules about what earlier cells left behind."""
