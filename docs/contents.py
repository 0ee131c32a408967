"""This file is the order of the manual: its parts, and the pages of each, as the side bar shows them."""
# ruff: noqa: INP001

# Pages are named as they lie in docs/, without their suffix. A folder is a page of its own, which lists its pages.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Begin", ("start", "notebooks/index", "try", "how-it-works")),
    (
        "In a notebook",
        (
            "manual",
            "magics",
            "rules",
            "nonfinite",
            "tensorinfo",
            "modelinfo",
            "torchprofile",
            "torchbench",
            "session",
            "levels",
            "compile",
        ),
    ),
    (
        "In scripts and services",
        (
            "guard",
            "tuning",
            "finders",
            "frameworks",
            "ranks",
            "ci",
            "mcp",
            "export",
            "server",
            "api/index",
        ),
    ),
    ("Look up", ("rules/index", "reference/index", "seeds", "changes")),
    ("Know what you get", ("peers", "limits", "privacy", "security", "stability")),
    ("Work on it", ("contributing", "decisions/index")),
)

# Reference pages: title, and the rooms and folders whose public names stand there. The first that fits takes a name.
REFERENCE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("debuggers", "Debuggers", ("api.debugging",)),
    ("training-logs", "Training logs", ("api.training_logs",)),
    ("callbacks", "Callbacks for frameworks", ("api.callbacks",)),
    ("guards", "Guards", ("guard",)),
    ("tuning", "Tuning", ("tuning",)),
    ("watching", "Watching, and reading what was seen", ("",)),
)
