"""This file tests colours: that they can be seen, and told apart by readers who see fewer of them."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import torchmagic
from torchmagic.records.tensor_picture import NUM_LEVELS
from torchmagic.views.skins import matplotlib
from torchmagic.views.skins.palette import COLOURS, EDGE, NOT_FINITE, look
from torchmagic.views.skins.pictures import _BROKEN_COLOUR, _palette

colorspacious = pytest.importorskip(
    "colorspacious", reason="colorspacious is not installed: pip install torchmagic[dev]"
)

PACKAGE = Path(torchmagic.__file__).parent
PANEL = (PACKAGE / "jupyter" / "panel" / "panel.css").read_text(encoding="utf-8")
COPY = (PACKAGE / "views" / "skins" / "templates" / "page.css").read_text(encoding="utf-8")
REPORT = (PACKAGE / "exports" / "report" / "report.css").read_text(encoding="utf-8")
# Paper, JupyterLab's dark ground, and that of VS Code.
GROUNDS = ("#ffffff", "#111111", "#1e1e1e")
# WCAG 2.1, 1.4.11: parts of graphics that are needed to understand them.
GRAPHICS = 3.0
# Dichromacy, the severest form, after Machado, Oliveira & Fernandes 2009 (doi 10.1109/TVCG.2009.113); the last is none.
VISIONS = {"deuteranomaly": 100, "protanomaly": 100, "tritanomaly": 100, "none": 0}
# Least distance in CAM02-UCS, where 1 can just be seen between patches side by side (Luo, Cui & Li 2006). Lines are
# thin and apart from each other and from their legend, which takes some ten times that; the most that eight colours
# can have that keep 3:1 on white and on dark alike is 15, in drab ones.
LEAST = 12.0


def seen(colours, vision):
    kind = "deuteranomaly" if vision == "none" else vision
    space = {"name": "sRGB1+CVD", "cvd_type": kind, "severity": VISIONS[vision]}
    return colorspacious.cspace_convert(np.array(colours), space, "CAM02-UCS")


def parts(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def severities(style):
    return tuple(
        re.search(rf"\.tm-{name}\s*{{\s*--tm-tone:\s*(#\w+)", style)[1] for name in ("error", "warning", "info")
    )


PICTURES = {"lines and areas": COLOURS, "severities": severities(PANEL)}


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("picture", PICTURES)
def test_any_two_colours_of_a_picture_can_be_told_apart(picture, vision):
    colours = PICTURES[picture]
    places = seen([parts(colour) for colour in colours], vision)
    near = {
        (colours[a], colours[b]): round(float(np.linalg.norm(places[a] - places[b])), 1)
        for a, b in combinations(range(len(colours)), 2)
    }
    assert {pair: distance for pair, distance in near.items() if distance < LEAST} == {}


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("scale", ["sequential", "diverging", "grey"])
def test_what_is_not_finite_is_unlike_every_level_of_a_scale(scale, vision):
    levels = np.frombuffer(_palette(scale), dtype=np.uint8).reshape(-1, 3)[:NUM_LEVELS] / 255
    broken = seen([[part / 255 for part in _BROKEN_COLOUR]], vision)
    assert np.linalg.norm(seen(levels, vision) - broken, axis=1).min() >= LEAST


@pytest.mark.parametrize("ground", GROUNDS)
def test_what_is_drawn_can_be_seen_on_light_and_on_dark(ground):
    drawn = (*COLOURS, NOT_FINITE, matplotlib._GREY, *severities(PANEL))
    assert {colour: contrast(colour, ground) for colour in drawn if contrast(colour, ground) < GRAPHICS} == {}


def test_areas_can_be_seen_beside_the_edge_between_them():
    assert min(contrast(colour, EDGE) for colour in COLOURS) >= GRAPHICS


def test_panel_copy_and_report_use_the_same_colours():
    for place, colour in enumerate(COLOURS):
        assert f".tm-c{place} {{ --tm-tone: {colour}; }}" in PANEL
        assert f".c{place}{{--tone:{colour}}}" in REPORT
    assert severities(COPY) == severities(PANEL)


def test_lines_are_told_by_their_dashes_too():
    looks = [look(place) for place in range(32)]
    assert len(set(looks)) == 32
    assert all(len({dash for _, dash in looks[first : first + 4]}) == 4 for first in (0, 4, 8))
