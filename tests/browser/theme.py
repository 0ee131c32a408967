"""This file is what tests do to a page beside its notebook: change its theme, and take a picture of a part of it."""

from playwright.sync_api import expect


def use_theme(page, theme):
    page.click('.lm-MenuBar-itemLabel:text-is("Settings")')
    page.hover('.lm-Menu-itemLabel:text-is("Theme")')
    page.click(f'.lm-Menu-itemLabel:text-is("JupyterLab {theme}")')
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {theme}")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)


def pictured(page, locator, path, *, height=2600):
    """Take a picture of the whole of an output, in a window high enough for it, with no pointer over it."""
    page.set_viewport_size({"width": 1200, "height": height})
    locator.scroll_into_view_if_needed()
    page.mouse.move(0, 0)
    locator.screenshot(path=path)
