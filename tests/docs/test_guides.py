"""What the guides tell to type works as it stands there."""

import inspect
import re
import subprocess
import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from torchmagic.records.finding import Severity

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# A hook cannot be removed again, so this has a process of its own.
CELLS = """
import sys
asked = []
def hear(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        asked.append(event)
sys.addaudithook(hear)
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in sys.stdin.read().split("\\0"):
    shell.run_cell(cell).raise_error()
print("asked of the network:", asked)
"""


def blocks(page, *languages):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [body for language, body in BLOCK.findall(text) if language in languages]


def test_the_first_minute_goes_as_it_is_told(tmp_path):
    cells = blocks("start.md", "", "python")
    assert len(cells) == 6
    said, said_of_w = blocks("start.md", "text")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CELLS],
        input="\0".join(cells), capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(said.strip()) >= 2  # under the cell, and from the script
    assert done.stdout.count(said_of_w.strip()) == 1
    assert "asked of the network: []" in done.stdout  # as docs/privacy.md promises


def test_the_first_minute_is_told_of_a_file_and_an_extra_that_exist():
    (shell,) = blocks("start.md", "sh")
    assert shell.split() == ["pip", "install", "-c", "constraints.txt", "-e", '".[lab]"']
    assert (ROOT / "constraints.txt").is_file()
    assert re.search(r"^lab = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_guide_to_a_rule_gives_a_script_and_a_rule_that_finds_it(monkeypatch, tmp_path):
    bad, rule = blocks("contributing.md", "python")
    monkeypatch.syspath_prepend(ROOT / "tests" / "rules")
    spec = util.spec_from_file_location("rule_scripts", ROOT / "tests" / "rules" / "scripts.py")
    scripts = util.module_from_spec(spec)
    spec.loader.exec_module(scripts)
    (tmp_path / "bad.py").write_text(bad, encoding="utf-8")
    run, error = scripts.watched(bad, str(tmp_path / "bad.py"))
    assert error is None

    module = ModuleType("torchmagic.rules.loss.my_mistake")
    module.__file__ = "my_mistake.py"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(rule, "my_mistake.py", "exec"), vars(module))  # noqa: S102 - the guide's own
    made = module.my_mistake
    assert (made.id, made.group) == ("my-mistake", "loss")
    assert [each for each in ("*Symptom*", "*Source*") if each not in inspect.getdoc(module)] == []
    (finding,) = made(run)
    wanted = re.search(r"# expect-line: (.*)", bad)[1]
    assert (finding.severity, finding.source) == (Severity.WARNING, wanted)
    assert list(made(run, min_steps=100)) == []
    told = "\n".join(scripts.told(run))
    assert "record   LossRecord(" in told
    assert "series   loss of loss: 20 rows" in told


@pytest.mark.parametrize("page", ["contributing.md", "peers.md", "try.md"])
def test_commands_of_the_guides_are_targets_of_the_makefile(page):
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE))
    assert named
    assert named <= targets


def test_files_that_the_guide_names_are_there():
    for path in re.findall(r"`((?:tests|torchmagic|docs)/[\w./]+\.\w+)`", (ROOT / "docs/contributing.md").read_text()):
        if "my_mistake" not in path and "NAME" not in path:
            assert (ROOT / path).exists(), path


def test_the_fragments_make_a_section_of_the_changelog():
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9", "--date", "2020-01-02"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=300)
    assert "## 9.9 (2020-01-02)" in done.stdout
    fragments = sorted((ROOT / "changelog.d").glob("*.*.md"))
    for fragment in fragments:
        first = " ".join(fragment.read_text(encoding="utf-8").split())[:40]
        assert first in " ".join(done.stdout.split()), fragment.name


def test_fragments_have_names_that_are_read():
    kinds = {"added", "changed", "deprecated", "removed", "fixed", "security"}
    for path in (ROOT / "changelog.d").iterdir():
        assert path.name == "README.md" or re.fullmatch(rf"(\+[\w.-]+|\d+)\.({'|'.join(kinds)})\.md", path.name), path
