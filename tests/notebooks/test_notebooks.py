"""The notebooks run as they are stored, and what is stored can be read without running it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SANITIZE = Path(__file__).with_name("sanitize.cfg")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# An absolute path of whoever ran the notebook last: home, temporary folder, virtual environment.
MACHINE_PATH = re.compile(r"(?<![\w.:/<])/(?:[\w.-]+/){2,}|[A-Z]:\\\\|site-packages|ipykernel_\d")
WATCHED = ("Findings", "Curves", "Parameters", "Memory & time")
RANKED = ("Findings", "Memory & time", "Ranks")  # the cell trains nothing itself
PROFILED = ("Findings", "Profile", "Modules", "Lines", "Operators", "Steps", "Loaders")
UNWATCHED = {"models", "tensors", "tuning", "your_own_loop"}
NBVAL = ("-q", "-p", "no:cacheprovider", "-o", "addopts=", "--nbval", "--nbval-current-env")
NBVAL += ("--nbval-cell-timeout", "120", "--nbval-sanitize-with", str(SANITIZE))
TIMEOUT = 300  # seconds; a notebook takes about twenty

pytestmark = pytest.mark.notebooks


def stored(notebook):
    return json.loads(notebook.read_text(encoding="utf-8"))


def outputs(notebook):
    return [output for cell in stored(notebook)["cells"] for output in cell.get("outputs", ())]


def text_of(output, kind):
    return "".join(output.get("data", {}).get(kind, ""))


def static_copies(notebook):
    """Return the copies of the panels of runs: other pages of the session have copies as well."""
    found = [output for cell in watched_cells(notebook) for output in cell["outputs"]]
    return [output for output in found if "data-torchmagic-static" in text_of(output, "text/html")]


def watched_cells(notebook):
    headers = ("%%torchdebug", "%%torchprofile", "%torchprofile", "%torchsession show")  # the last shows a panel again
    return [cell for cell in stored(notebook)["cells"] if "".join(cell["source"]).startswith(headers)]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_is_stored(notebook, tmp_path):
    names = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *NBVAL, str(notebook)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=TIMEOUT,
        env={**os.environ, **{name: str(tmp_path / name.lower()) for name in names}, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == [
        "first_look",
        "gradients_and_activations",
        "history",
        "memory",
        "models",
        "nan_hunt",
        "nonfinite",
        "profiling",
        "ranks",
        "tensors",
        "tour",
        "tuning",
        "why_it_does_not_learn",
        "your_own_loop",
    ]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_watched_cell_has_a_copy_of_its_panel_that_needs_no_kernel(notebook):
    copies = static_copies(notebook)
    # A notebook that trains nothing has no panel.
    assert len(copies) == len(watched_cells(notebook))
    assert len(copies) >= 2 or notebook.stem in UNWATCHED
    for copy in copies:
        html, text = text_of(copy, "text/html"), text_of(copy, "text/plain")
        assert "<script" not in html
        assert not re.search(r"(?:src|href)=[\"']https?:", html)
        headings = {"profiling": PROFILED, "ranks": RANKED}.get(notebook.stem, WATCHED)
        assert all(heading.replace("&", "&amp;") in html for heading in headings)
        # the text of a cell is brief and says where the rest is; what is shown again is told whole
        assert "More: %torchsession show" in text or all(heading in text for heading in headings)


@pytest.mark.parametrize(
    ("stem", "title", "line", "fix"),
    [
        ("first_look", "gets probabilities", "return torch.softmax(scores, dim=1)", "raw scores"),
        ("nonfinite", "first non-finite value", "return torch.cat([x, torch.log(ink)], dim=1)", "clamp"),
        ("nan_hunt", "first non-finite value", "return -torch.log(chosen).mean()", "clamp"),
        ("nan_hunt", "gradient of model.2.bias is non-finite", "return torch.sqrt(squares)", "singular point"),
        (
            "why_it_does_not_learn",
            "are not registered",
            "self.hidden = [nn.Linear(64, 64)",
            "self.hidden = nn.ModuleList",
        ),
        ("tour", "runs but gets no gradient", "fake = generator(torch.randn(64, 16)).detach()", "remove .detach()"),
        ("tour", "stretches (64, 1) and (64,)", "critic_loss = (expected - rewards)", "pred.squeeze(1)"),
        ("ranks", "gradients are not reduced", "cross_entropy(model(x), y)", "DistributedDataParallel(model)"),
        ("ranks", "the same batches", "loader = DataLoader(train_data, batch_size=32", "sampler=DistributedSampler"),
        ("gradients_and_activations", "the gradient norm reaches", "loss.backward()", "clip_grad_norm_"),
        ("memory", "held by losses, test_losses", "losses.append(loss)", "loss.item()"),
    ],
)
def test_the_stored_copy_tells_the_finding_with_its_line_and_cure(stem, title, line, fix):
    copies = static_copies(ROOT / "notebooks" / f"{stem}.ipynb")
    texts = [(copy, text_of(copy, "text/plain")) for copy in copies]
    told = [copy for copy, text in texts if re.search("ERROR|WARNING", text) and title in text]
    assert told
    for kind in ("text/html", "text/plain"):
        words = text_of(told[0], kind)
        assert title in words
        assert line in words
        assert fix in words


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_stored_tells_of_the_machine_that_ran_it(notebook):
    content = json.dumps([cell | {"id": ""} for cell in stored(notebook)["cells"]], ensure_ascii=False)
    without_pictures = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", content)
    found = MACHINE_PATH.search(without_pictures)
    assert found is None, without_pictures[max(0, found.start() - 80) : found.end() + 80]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook_is_in_order(notebook):
    content = stored(notebook)
    counts = [cell["execution_count"] for cell in content["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert not [output for output in outputs(notebook) if output["output_type"] == "error"]
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in content["metadata"], "run `make notebooks`, which leaves the state of widgets out"
