"""This file is a short account of an executed notebook in a terminal: where it is, and what each panel found."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

STATIC = "data-torchmagic-static"
RULE = "═" * 100


def panels(notebook: Path) -> Iterator[str]:
    """Yield the text of each panel's first page: heading, findings, what was watched and what it cost."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if STATIC in "".join(data.get("text/html", "")):
                yield "".join(data["text/plain"]).partition("\n\nCurves\n")[0]


def main() -> None:
    """Print the account of the notebook named on the command line."""
    notebook = Path(sys.argv[1])
    for text in panels(notebook):
        print(f"{RULE}\n{text}\n")
    print(RULE)
    print(f"notebook  {notebook}\nweb page  {notebook.with_suffix('.html')}")


if __name__ == "__main__":
    main()
