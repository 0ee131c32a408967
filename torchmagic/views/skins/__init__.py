"""Skins draw a page: html, text, markdown, wire (for the panel) and matplotlib."""
