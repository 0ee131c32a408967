"""The documents say what the code does, and their links lead somewhere."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic
from torchmagic.jupyter.cell_magics import TORCHBENCH, TORCHDEBUG, TORCHPROFILE
from torchmagic.rules.catalogue import RULES

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def build(monkeypatch_module):
    monkeypatch_module.syspath_prepend(ROOT / "docs")
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("magic", "name"),
    [(TORCHDEBUG, "magics.md"), (TORCHPROFILE, "torchprofile.md"), (TORCHBENCH, "torchbench.md")],
)
def test_the_table_of_options_is_the_one_that_the_magic_parses_by(build, magic, name):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    table = "\n".join(build.option_table(magic))
    assert table in page, f"run `make docs` and copy build/docs/options-{magic.name}.md"


def test_every_rule_gets_a_page_and_a_line_in_the_index(build, tmp_path):
    assert build.build(tmp_path, describe=lambda rule: f"Example of {rule.id}") == len(RULES) + 4
    index = (tmp_path / "rules" / "index.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert f"[{rule.id}]({rule.id}.md)" in index
        page = (tmp_path / "rules" / f"{rule.id}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {rule.id}\n")
        for heading in ("*Symptom*", "*Why it happens*", "*What to try*", "*Source*"):
            assert heading in page
        assert page.endswith(f"Example of {rule.id}")


def test_the_example_of_a_rule_is_its_sick_script_and_what_is_really_said_of_it(build):
    rule = next(rule for rule in RULES if rule.id == "missing-zero-grad")
    text = build.example(rule)
    assert "expect-line" not in text
    said = text.partition("torchmagic says:")[2]
    assert "steps on gradients that are never reset" in said
    assert "line 18: loss.backward()" in said


def test_the_example_of_a_rule_about_running_again_is_run_again(build):
    rule = next(rule for rule in RULES if rule.id == "continued-training")
    text = build.example(rule)
    assert "# runs:" not in text
    assert "the cell ran before" in text.partition("torchmagic says:")[2]


def test_thresholds_are_written_as_one_would_type_them(build):
    rule = next(rule for rule in RULES if rule.id == "held-by-output")
    assert "| `held-by-output.min_bytes` | 16777216 |" in build.rule_page(rule)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_within_the_project_lead_somewhere(page):
    for found in LINK.finditer(page.read_text(encoding="utf-8")):
        target = (found[1] or found[2]).partition("#")[0]
        if target and not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{target} is not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_fit_on_a_screen(page):
    too_long = [
        line
        for line in page.read_text(encoding="utf-8").splitlines()
        if len(line) > 120 and not line.startswith(("|", "  <img"))
    ]
    assert not too_long


def test_the_readme_fits_on_a_screen():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 60
    assert readme.count("<img") == 1
    assert len(re.findall(r"^- ", readme, flags=re.MULTILINE)) == 5


def test_the_python_of_the_manual_runs(tmp_path):
    manual = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", manual, flags=re.DOTALL)
    assert len(snippets) == 1
    done = subprocess.run(
        [sys.executable, "-c", snippets[0]], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "gets probabilities" in done.stdout
    assert (tmp_path / "report.html").stat().st_size > 1000


def test_the_commands_of_the_readme_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, flags=re.MULTILINE))
    assert {"help", "setup", "demo", "lab", "test", "check", "lint", "bench", "docs"} <= targets
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", readme, flags=re.MULTILINE)) <= targets


def test_the_makefile_says_what_each_target_does():
    done = subprocess.run(["make", "help"], capture_output=True, text=True, check=True, cwd=ROOT, timeout=300)
    for target in ("setup", "demo", "lab", "test", "check", "lint", "bench", "docs"):
        assert re.search(rf"make {target} +\w+", done.stdout)


def test_the_index_tells_every_field_of_a_finding_and_every_name_of_a_run():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for field in torchmagic.Finding.__dataclass_fields__:
        assert f"`{field}`" in page, field
    for name in ("status", "findings", "steps", "overhead", "parameters", "series", "save", "to_json", "report"):
        assert f"`run.{name}" in page, name
        assert hasattr(torchmagic.Run, name) or name in vars(torchmagic.Run()), name


def test_the_changelog_tells_every_rule():
    fragments = sorted((ROOT / "changelog.d").glob("*.*.md"))
    page = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "CHANGELOG.md", *fragments])
    for rule in RULES:
        assert f"`{rule.id}`" in page


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=lambda path: path.stem)
def test_a_decision_has_its_context_its_choice_and_its_price(page):
    text = page.read_text(encoding="utf-8")
    number = int(page.stem[:4])
    assert text.startswith(f"# {number}. ")
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Context", "## Choice", "## Price"]
    assert len(text.splitlines()) <= 50
