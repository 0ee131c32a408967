"""This file is the elements that only a hostile name or message could have put into an output of ours."""

TAGS = "iframe, script, b, img:not([src^='data:image/png']), svg[onload], [onerror]"
