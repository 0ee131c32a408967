"""This file is axe-core in a page: what of its markup and colours keeps people out."""

import pytest
from contrasts import CONTRASTS

# WCAG 2.1 at the levels A and AA, and what axe's makers found to be good practice beyond them.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
# axe takes ten times as long for this rule as for all others together. Outside of a sample in each theme it is left to
# CONTRASTS, which reckons the same ratio for every text, those of drawings as well, in a twentieth of the time.
SLOW = "color-contrast"
# Axe's ranks of faults: those that keep somebody out, and all.
GRAVE = ["serious", "critical"]
ALL = [*GRAVE, "moderate", "minor"]

RUN = """
async ([tags, off, ranks]) => {
  const rules = Object.fromEntries(off.map((rule) => [rule, { enabled: false }]));
  const found = await axe.run(document, { runOnly: { type: "tag", values: tags }, rules, resultTypes: ["violations"] });
  const told = found.violations.filter((fault) => ranks.includes(fault.impact));
  return told.map((fault) => `${fault.id}: ${fault.nodes.slice(0, 3).map((node) => {
    const why = [...node.any, ...node.all, ...node.none][0]?.message ?? "";
    return `${node.html.slice(0, 140)} (${why})`;
  }).join("; ")}`);
}
"""


def load_axe(page):
    """Bring axe into a page; a test is skipped where it is not installed."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed: pip install torchmagic[dev]")
    page.evaluate(axe.AXE_SCRIPT)


def faults(page, *, slowly=False, colours_alone=False):
    """Return what is wrong with a page, a line for each rule that it breaks.

    Args:
        page: With axe in it.
        slowly: Whether axe looks at contrasts too.
        colours_alone: For a page that was looked at in another theme, as markup is the same in each.
    """
    found = page.evaluate(CONTRASTS)
    if slowly or not colours_alone:
        found += page.evaluate(RUN, [TAGS, [] if slowly else [SLOW], ALL])
    return found


def grave_faults(page, *, besides=()):
    """Return what of a page is seriously or critically wrong, contrasts as well, a line for each rule that it breaks.

    Args:
        page: With axe in it.
        besides: Ids of the rules that are not asked.
    """
    return page.evaluate(RUN, [TAGS, list(besides), GRAVE])
