"""This file is ``%torchsession`` in a real JupyterLab: history, comparison, curves and a run shown again."""

import re

import pytest
from contrasts import CONTRASTS
from markup import TAGS

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

LOAD = """%load_ext torchmagic
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
inputs = torch.randn(8_192, 64)
labels = (inputs @ torch.randn(64, 10)).argmax(1)
loader = DataLoader(TensorDataset(inputs, labels), batch_size=128, shuffle=True)
criterion = torch.nn.CrossEntropyLoss()
"""
TRAIN = """%%torchdebug --name "{name}"
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
optimizer = torch.optim.Adam(model.parameters(), lr={rate})
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        scores = {scores}
        loss = criterion(scores, y)
        loss.backward()
        optimizer.step()
"""
HOSTILE = "<img src=x onerror=window.taken=1>"
CELLS = {
    "load": LOAD,
    "baseline": TRAIN.format(name="baseline", rate=0.001, scores="model(x)"),
    "faster": TRAIN.format(name="higher rate", rate=0.01, scores="model(x)"),
    "softmax": TRAIN.format(name="softmax first", rate=0.01, scores="torch.softmax(model(x), dim=1)"),
    "note": '%torchsession note 2 "best so far"\n%torchsession tag 2 keep',
    "history": "%torchsession history",
    "compare": "%torchsession compare 2 3",
    "show": "%torchsession show 3",
    "loss": "%torchsession plot loss --runs 1 2 3",
    "gradients": '%torchsession plot grad_norm --parameter "*.weight"',
    "hostile": TRAIN.format(name=HOSTILE, rate=0.1, scores="model(x)  # <b>bold</b><svg onload=window.taken=2>"),
    "hostile history": "%torchsession history",
    "hostile compare": "%torchsession compare 1 4",
}
PLACES = {name: index for index, name in enumerate(CELLS)}


@pytest.fixture(scope="module")
def opened(notebook):
    opened = notebook(list(CELLS.values()), name="session/sweep.ipynb")
    opened.run_all()
    for index in PLACES.values():
        opened.wait(index, timeout=120_000)
    return opened


@pytest.fixture
def output(opened):
    return lambda name: opened.output(PLACES[name])


def panel_of(output, name):
    return output(name).locator(".torchmagic-panel")


def rows(output):
    return [row.locator("th, td").all_text_contents() for row in output.locator("tbody tr").all()]


def test_every_word_ends_well(page, opened):
    expect(page.locator(".jp-RenderedText[data-mime-type*=error]")).to_have_count(0)


def test_the_history_has_a_row_for_each_run_with_its_loss_as_a_small_curve(output):
    table = panel_of(output, "history").locator("table")
    found = rows(table)
    assert [row[1] for row in found] == ["softmax first", "higher rate", "baseline"]
    expect(table.locator("tbody tr").nth(1)).to_contain_text("#keep best so far")
    expect(table.locator("[role=img]")).to_have_count(3)
    assert all("today" in row[2] and "128" in row for row in found)


def test_the_history_sorts(output):
    panel = panel_of(output, "history")
    head = panel.get_by_role("columnheader", name="last loss")
    head.get_by_role("button").click()
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert rows(panel)[0][1] == "higher rate"
    head.get_by_role("button").click()
    assert rows(panel)[0][1] == "softmax first"


def test_the_comparison_says_what_changed_and_what_came_of_it(output):
    panel = panel_of(output, "compare")
    expect(panel.locator(".tm-added")).to_contain_text(["scores = torch.softmax(model(x), dim=1)"])
    expect(panel).to_contain_text("cross_entropy gets probabilities")
    expect(panel.locator("figure").filter(has_text="loss").first.locator("path.tm-line")).to_have_count(2)
    expect(panel).not_to_contain_text(re.compile(r"\bnan\b", re.IGNORECASE))


def test_a_run_shown_again_is_the_whole_panel(output):
    panel = panel_of(output, "show")
    expect(panel.locator(".tm-head")).to_contain_text("128 steps")
    expect(panel.locator(".tm-card").first).to_contain_text("cross_entropy gets probabilities")
    panel.get_by_role("tab", name="Parameters").click()
    panel.get_by_role("button", name="model.0.weight").click()
    expect(panel.locator(".tm-details figure").filter(has_text="gradient norm")).to_have_count(1)
    expect(output("show").locator("[data-torchmagic-static]")).to_be_hidden()
    panel.get_by_role("tab", name="Findings").click()


def test_curves_of_one_metric_are_named_by_run_or_by_parameter(output):
    for name, said in (("loss", ("baseline", "higher rate", "softmax first")), ("gradients", ("model.0.weight",))):
        figure = panel_of(output, name).locator("figure").first
        expect(figure.locator("path.tm-line").first).to_be_attached()
        for each in said:
            expect(figure.locator(".tm-legend")).to_contain_text(each)


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_light_and_dark_are_readable(output, page, pictures, theme):
    from theme import pictured, use_theme  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    use_theme(page, theme)
    assert not page.evaluate(CONTRASTS)
    for name in ("history", "compare", "loss"):
        pictured(page, panel_of(output, name), pictures / f"session-{name}-{theme.lower()}.png")


def test_no_name_and_no_source_becomes_markup(output, page):
    for name, said in (("hostile history", HOSTILE), ("hostile compare", HOSTILE[:20])):  # a long name is cut
        expect(output(name)).to_contain_text(said)
        assert output(name).locator(TAGS).count() == 0, name
    expect(output("hostile compare")).to_contain_text("<b>bold</b>")
    assert page.evaluate("window.taken") is None


# last: it takes the kernel away
def test_the_saved_notebook_still_tells_all_without_a_kernel(opened, output, lab):
    saved = opened.save()
    kinds = [sorted(each["data"]) for each in saved["cells"][PLACES["compare"]]["outputs"]]
    assert kinds[-1] == ["text/html", "text/plain"]
    lab.end_kernels()
    opened.reopen()
    expect(output("history").locator("[data-torchmagic-static] tbody tr")).to_have_count(3)
    expect(output("compare")).to_contain_text("scores = torch.softmax(model(x), dim=1)")
    copy = output("show").locator("[data-torchmagic-static]")
    expect(copy).to_be_visible()
    expect(copy).to_contain_text("cross_entropy gets probabilities")
    expect(output("show").get_by_text("Error displaying widget")).to_be_hidden()
    assert output("hostile compare").locator(TAGS).count() == 0
