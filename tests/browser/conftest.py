"""This file is the browser tests' ground: one JupyterLab and one Chromium for all, a fresh page for each."""

import os
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
_failed = pytest.StashKey()


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        item.stash[_failed] = report.failed
    return report


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install torchmagic[dev]")
    from lab import Lab

    server = Lab(tmp_path_factory.mktemp("lab"), paths=[REPOSITORY, HERE])
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH: apt install chromium, or name one in CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright.expect.set_options(timeout=30_000)  # a busy machine takes longer than the default to import torch
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium, lab, request, tmp_path):
    context = chromium.new_context(viewport={"width": 1200, "height": 1000}, device_scale_factor=1)
    context.set_default_timeout(30_000)
    page = context.new_page()
    yield page
    if request.node.stash.get(_failed, False):
        picture = tmp_path / "failed.png"
        page.screenshot(path=picture)
        print(f"screenshot: {picture}\n{lab.log()[-2000:]}")  # noqa: T201 - pytest shows it with the failure
    context.close()
    lab.end_kernels()


@pytest.fixture
def notebook(page, lab):
    from lab_notebook import LabNotebook

    return lambda cells, **options: LabNotebook(page, lab, cells, **options)


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """Where screenshots go: the manual's folder when ``TORCHMAGIC_SCREENSHOTS`` is set."""
    if not os.environ.get("TORCHMAGIC_SCREENSHOTS"):
        return tmp_path_factory.mktemp("pictures")
    folder = REPOSITORY / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
