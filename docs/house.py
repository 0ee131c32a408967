"""This file draws the picture of the house: how data goes through torchmagic, and which room stands on which floor."""
# ruff: noqa: INP001

import sys
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH, MARGIN, GAP = 960, 24, 14
FONT = "font-family='system-ui, -apple-system, Segoe UI, sans-serif'"
# What stands on the way of a number, and what it does there.
STATIONS = (
    ("tap", "hears torch"),
    ("probe", "measures"),
    ("record", "a plain fact"),
    ("run · session", "keeps them"),
    ("analysis", "small tables"),
    ("finding", "what is wrong"),
    ("page", "what is said"),
    ("skin", "how it looks"),
)
# Which stations belong together: the first, the last, and what is true of them.
ZONES = (
    (0, 1, "torch", "touches torch, never judges"),
    (2, 3, "middle", "where the two meet"),
    (4, 7, "judge", "judges, never touches torch; a stored run is read without torch"),
)
FLOORS = {
    "jupyter": "the face",
    "api": "public names",
    "debuggers": "engines, and ways out",
    "rules": "sight and judgement",
    "analyses": "small tables",
    "session": "keeps runs",
    "records": "plain facts",
}
COLOURS = {
    "light": {
        "ink": "#1b1f24",
        "quiet": "#57606a",
        "ground": "#ffffff",
        "line": "#8c959f",
        "torch": "#fff1e5",
        "middle": "#eef0f2",
        "judge": "#e3f0ff",
        "room": "#f6f8fa",
    },
    "dark": {
        "ink": "#e6edf3",
        "quiet": "#9da7b3",
        "ground": "#131416",
        "line": "#6e7681",
        "torch": "#3d2816",
        "middle": "#2a2e34",
        "judge": "#14304f",
        "room": "#1f2328",
    },
}


def floors() -> list[list[str]]:
    """Return the rooms of each floor, the highest first, as the contracts of the project have them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[room.strip(" ()") for room in layer.split("|")] for layer in layers]


def drawn(theme: str) -> str:
    """Return the picture as SVG, in the colours of a theme: ``light`` or ``dark``."""
    colours = COLOURS[theme]
    body = "\n".join([*_way(colours), *_house(colours)])
    height = 226 + 44 * len(floors())
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img' aria-labelledby='t'>\n"
        f"<title id='t'>{escape(description())}</title>\n"
        f"<rect width='{WIDTH}' height='{height}' rx='10' fill='{colours['ground']}'/>\n{body}\n</svg>\n"
    )


def description() -> str:
    """Return what the picture shows, for those who do not see it."""
    way = " to ".join(name for name, _ in STATIONS)
    rooms = "; ".join(", ".join(floor) for floor in floors())
    return f"The way of data: {way}. The rooms, from the highest floor to the lowest, imports only downwards: {rooms}."


def _way(colours: dict[str, str]) -> Iterator[str]:
    pitch = (WIDTH - 2 * MARGIN + GAP) / len(STATIONS)
    width = pitch - GAP
    for first, last, zone, claim in ZONES:
        left, right = MARGIN + first * pitch - 6, MARGIN + last * pitch + width + 6
        yield f"<rect x='{left:.1f}' y='20' width='{right - left:.1f}' height='112' rx='8' fill='{colours[zone]}'/>"
        yield _text((left + right) / 2, 120, claim, colours["quiet"], size=12)
    for index, (name, does) in enumerate(STATIONS):
        left = MARGIN + index * pitch
        yield (
            f"<rect x='{left:.1f}' y='36' width='{width:.1f}' height='62' rx='6' fill='{colours['ground']}' "
            f"stroke='{colours['line']}'/>"
        )
        yield _text(left + width / 2, 63, name, colours["ink"], size=14, weight=600)
        yield _text(left + width / 2, 84, does, colours["quiet"], size=12)
        if index:
            tip = left - 2
            yield f"<path d='M{tip - GAP + 4:.1f} 67H{tip:.1f}m-4 -4l4 4l-4 4' fill='none' stroke='{colours['ink']}'/>"


def _house(colours: dict[str, str]) -> Iterator[str]:
    yield _text(MARGIN, 168, "The rooms of the package. Imports go down only.", colours["quiet"], size=13, at="start")
    for level, rooms in enumerate(floors()):
        top = 182 + 44 * level
        told = next((FLOORS[room] for room in rooms if room in FLOORS), "")
        yield _text(MARGIN, top + 24, told, colours["quiet"], size=12, at="start")
        left, width = 180, (WIDTH - MARGIN - 180 + GAP) / len(rooms) - GAP
        for index, room in enumerate(rooms):
            x = left + index * (width + GAP)
            yield (
                f"<rect x='{x:.1f}' y='{top}' width='{width:.1f}' height='36' rx='5' fill='{colours['room']}' "
                f"stroke='{colours['line']}'/>"
            )
            yield _text(x + width / 2, top + 23, room, colours["ink"], size=14)


def _text(x: float, y: float, words: str, colour: str, *, size: int, weight: int = 400, at: str = "middle") -> str:
    return (
        f"<text x='{x:.1f}' y='{y}' text-anchor='{at}' font-size='{size}' font-weight='{weight}' fill='{colour}' "
        f"{FONT}>{escape(words)}</text>"
    )


if __name__ == "__main__":
    for each in COLOURS:
        path = ROOT / "docs" / "images" / f"house-{each}.svg"
        path.write_text(drawn(each), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
