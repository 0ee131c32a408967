"""What is released holds the package and nothing else, and works where nothing else of the project is."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BESIDE = {"CHANGELOG.md", "LICENSE", "README.md", "constraints.txt", "pyproject.toml", "PKG-INFO", ".gitignore"}
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
LOADED = """
import sys
from importlib.metadata import version
from IPython.core.interactiveshell import InteractiveShell
import torchmagic
assert torchmagic.__file__.startswith(sys.prefix), torchmagic.__file__
shell = InteractiveShell.instance()
cells = ["%load_ext torchmagic", '''%%torchdebug --no-save
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(dim=1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(3, (8,))).backward()
    opt.step()
''']
for cell in cells:
    shell.run_cell(cell).raise_error()
assert torchmagic.__version__ == version("torchmagic")
print("found:", torchmagic.session.last.findings[0].rule)
"""


def run(*command, cwd, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=900, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def version_in(folder):
    return run(sys.executable, "-W", "ignore", "-m", "hatchling", "version", cwd=folder).strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder with a wheel and an sdist, built without a network in this environment."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-W", "ignore", "-m", "hatchling", "build", "-d", str(folder), cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    (archive,) = built.glob("*.tar.gz")
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


def package_files():
    files = [path for path in (ROOT / "torchmagic").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(ROOT).as_posix() for path in files}


def test_the_wheel_holds_the_package_and_its_licence_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    (about,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
    assert {name for name in names if not name.startswith(about)} == package_files()
    assert f"{about}/licenses/LICENSE" in names
    assert {
        "torchmagic/py.typed",
        "torchmagic/jupyter/panel/panel.css",
        "torchmagic/exports/report/report.html",
    } <= names
    assert [name for name in names if name.endswith(".js") and "/panel/script/" in name]
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_asks_for_what_is_declared(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        (name,) = [each for each in file.namelist() if each.endswith("METADATA")]
        told = file.read(name).decode()
    wanted = [line.removeprefix("Requires-Dist: ") for line in told.splitlines() if line.startswith("Requires-Dist")]
    assert sorted(SETTINGS["project"]["dependencies"]) == sorted(line for line in wanted if "extra ==" not in line)
    assert "Requires-Python: >=3.11" in told
    assert "License-Expression: MIT" in told


def test_the_sdist_holds_the_package_and_what_builds_it(unpacked):
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {name for name in names if not name.startswith("torchmagic/")} <= BESIDE
    assert {name for name in names if name.startswith("torchmagic/")} == package_files()


def test_the_version_is_the_same_from_an_sdist(built, unpacked):
    (wheel,) = built.glob("*.whl")
    assert version_in(unpacked) == wheel.name.split("-")[1]


def test_the_version_is_that_of_the_tag_and_a_clone_without_tags_has_one_too(unpacked, tmp_path):
    project = tmp_path / "project"
    unpacked_files = [path for path in unpacked.iterdir() if path.name != "PKG-INFO"]
    project.mkdir()
    run("cp", "-r", *map(str, unpacked_files), str(project), cwd=tmp_path)
    assert version_in(project) == "0.1.dev0"  # an archive of a commit
    run(*GIT, "init", "-q", cwd=project)
    run(*GIT, "add", "-A", cwd=project)
    run(*GIT, "commit", "-qm", "first", cwd=project)
    assert version_in(project).startswith("0.1.dev1+g")
    run(*GIT, "tag", "v0.3.0", cwd=project)
    assert version_in(project) == "0.3.0"
    run(*GIT, "commit", "-qm", "second", "--allow-empty", cwd=project)
    assert version_in(project).startswith("0.3.1.dev1+g")
    run(*GIT, "clone", "-q", "--depth", "1", "--no-tags", project.as_uri(), "shallow", cwd=tmp_path)
    assert version_in(tmp_path / "shallow").startswith("0.1.dev1+g")


@pytest.mark.release
@pytest.mark.skipif("DIST" not in os.environ, reason="installing torch takes minutes: `make dist` asks for it")
def test_the_wheel_works_in_an_environment_of_its_own(tmp_path):
    (wheel,) = (ROOT / os.environ["DIST"]).glob("*.whl")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    run(sys.executable, "-m", "venv", "empty", cwd=tmp_path)
    python = str(tmp_path / "empty" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*install, "-c", str(ROOT / "constraints.txt"), str(wheel), cwd=tmp_path, env=environment)
    run(python, "-m", "pip", "check", cwd=tmp_path)
    said = run(python, "-W", "ignore", "-c", LOADED, cwd=tmp_path, env=environment)
    assert "found: softmax-before-cross-entropy" in said
