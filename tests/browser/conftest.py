"""This file is the browser tests' ground: one JupyterLab for all, a page for each file of tests."""

import os
from pathlib import Path

import pytest
from lab import Lab

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    lab, page = (item.funcargs.get(name) for name in ("lab", "page"))
    answers = call.excinfo is None or "Timeout (>" not in str(call.excinfo.value)
    if report.when == "call" and report.failed and page is not None and answers:
        picture = lab.home / f"{item.name}.png"
        page.screenshot(path=picture)
        report.sections.append(("Browser", f"screenshot: {picture}\n{lab.log()[-2000:]}"))
    return report


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install torchmagic[dev]")
    server = Lab(tmp_path_factory.mktemp("lab"), paths=[REPOSITORY, HERE])
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def page(chromium, lab):
    context = chromium.new_context(viewport={"width": 1200, "height": 1000}, device_scale_factor=1)
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()
    lab.end_kernels()


@pytest.fixture(scope="module")
def notebook(page, lab):
    from lab_notebook import LabNotebook  # noqa: PLC0415 - needs playwright, without which these tests are skipped

    def open_notebook(cells, **options):
        lab.end_kernels()
        return LabNotebook(page, lab, cells, **options)

    return open_notebook


@pytest.fixture(scope="module")
def bare(chromium):
    """A page with the panel's script and no notebook, for ``bare_page.shown``."""
    from bare_page import bare_document  # noqa: PLC0415 - as late as torch

    context = chromium.new_context(viewport={"width": 900, "height": 900})
    page = context.new_page()
    page.set_content(bare_document())
    yield page
    context.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    """Where screenshots go: the manual's folder when ``TORCHMAGIC_SCREENSHOTS`` is set."""
    if not os.environ.get("TORCHMAGIC_SCREENSHOTS"):
        return tmp_path_factory.mktemp("pictures")
    folder = REPOSITORY / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
