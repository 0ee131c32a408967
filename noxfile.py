"""This file is the matrix: the fast tests, in environments of their own, in the versions that are supported."""

import os
import re
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = True
nox.options.reuse_existing_virtualenvs = True

ROOT = Path(__file__).parent
# What the fast tests are: everything that a version of Python, IPython, ipykernel or torch could break in a moment.
FAST = (
    "tests/test_package.py",
    "tests/records",
    "tests/session",
    "tests/analyses",
    "tests/jupyter/panel",
    *(
        f"tests/jupyter/test_{name}.py"
        for name in (
            "completion",
            "configuration",
            "extension",
            "options",
            "plain_cell",
            "rich_repr",
            "run_all",
            "same_bits",
            "session_words",
            "terminal",
            "tracebacks",
            "watching_cells",
        )
    ),
)
# What another version of torch could break.
WATCHING = ("tests/probes", "tests/debuggers")
NEEDED = (
    "pytest",
    "pytest-xdist",
    "pytest-timeout",
    "hypothesis",
    "jsonschema",
    "pandas",
    "nbconvert",
    "scikit-learn",
    "pexpect",
)
# Hypothesis' profile for CI gives each set the same examples, and none of them a time to be ready in.
PYTEST = ("python", "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "--hypothesis-profile=ci")
# The versions that differ from those of constraints.txt, which are the newest.
SETS = {
    "newest": (),
    "oldest-jupyter": ("ipython==8.12.3", "ipykernel==6.29.5", "ipywidgets==8.1.0", "anywidget==0.9.13"),
    "ipython-8": ("ipython==8.37.0", "ipykernel==6.31.0"),
    "oldest-torch": ("torch==2.6.0", "numpy==1.26.4"),
}
CELLS = (
    ("3.11", "newest"),
    ("3.11", "oldest-jupyter"),
    ("3.11", "oldest-torch"),
    ("3.11", "ipython-8"),
    ("3.12", "ipython-8"),
    ("3.13", "newest"),
)

# What reads a finished run needs no torch.
READERS = ("records", "session", "analyses", "views", "rules")
TRAINS = re.compile(
    r"^\s*(?:import|from) torch\b|import (?:scripts|played|exception_cells)\b|exception_cells import", re.MULTILINE
)


@nox.session
@nox.parametrize(
    ("python", "versions"),
    [nox.param(python, versions, id=f"{python}-{versions}") for python, versions in CELLS],
)
def matrix(session: nox.Session, versions: str) -> None:
    """Install the package at a set of versions, and run the fast tests."""
    pins = SETS[versions]
    session.install("-c", _constraints(session, pins), *pins, *NEEDED, ".[lab,server]", silent=True)
    session.run("python", "-m", "pip", "list", "--format=freeze", silent=True, log=False)
    # IPython 8 warns, and warnings are errors, where this names the environment that nox itself was started from
    session.env["VIRTUAL_ENV"] = session.virtualenv.location
    session.run(*PYTEST, *(session.posargs or (*FAST, *(WATCHING if versions == "oldest-torch" else ()))))


@nox.session(python=["3.12", "3.13"])
def reading(session: nox.Session) -> None:
    """Install the package without torch, and run the tests of what reads a finished run."""
    project = nox.project.load_toml(ROOT / "pyproject.toml")["project"]
    needed = [each for each in project["dependencies"] if not each.startswith("torch")]
    session.install("-c", _constraints(session, ("torch==0",)), *needed, *NEEDED, "pyarrow", silent=True)
    session.install("--no-deps", ".", silent=True)
    found = [path for room in READERS for path in sorted((ROOT / "tests" / room).rglob("test_*.py"))]
    files = [str(path) for path in found if not TRAINS.search(path.read_text(encoding="utf-8"))]
    session.env["VIRTUAL_ENV"] = session.virtualenv.location
    session.run("python", "-c", "import importlib.util as u; assert u.find_spec('torch') is None")
    session.run(*PYTEST, *(session.posargs or files))


def _constraints(session: nox.Session, pins: tuple[str, ...]) -> str:
    """Return a file of constraints in which other versions stand for those of the pins."""
    free = {pin.partition("==")[0].lower() for pin in pins}
    if "torch" in free:
        free |= {"sympy", "numba", "llvmlite", "scipy", "scikit-learn", "pandas", "matplotlib", "contourpy"}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.partition("==")[0].lower().replace("_", "-") not in free]
    path = Path(session.create_tmp()) / "constraints.txt"
    path.write_text(os.linesep.join(kept), encoding="utf-8")
    return str(path)
