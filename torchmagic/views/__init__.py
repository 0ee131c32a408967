"""Views turn a run into a page; skins draw the page."""
