"""This file is the order of the files of tests where they run side by side, and the browser that is one for all."""

import asyncio
import gc
import multiprocessing
import os
import shutil
import signal
from collections import Counter

import hypothesis
import pytest

# A busy machine takes its time over an example.
hypothesis.settings.register_profile("patient", parent=hypothesis.settings.default, deadline=None)
hypothesis.settings.load_profile("patient")

# A shell has what it begins in the background ignore interrupts; here they are raised, and looked at.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Folders of which a file takes long: begun first, none of them is left when all others are done.
FIRST = ("corpus", "notebooks", "device", "typing", "crash", "jupyter")
# What looks through all objects comes late, and browsers last: one that was started stays until the end.
LATE, LAST = {"profiling", "rules", "test_line_ranges.py"}, "browser"

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
# Containers give little shared memory; a page for which it is too little stands still without a word.
FLAGS += ["--disable-dev-shm-usage"]
# How long a test may wait for the browser, in seconds; most calls of its driver wait for ever.
PATIENCE = 240
SILENT = pytest.StashKey[str]()


def pytest_collection_modifyitems(config, items):
    """Give the files in the order in which ``--no-loadscope-reorder`` hands them out."""
    for item in items:
        if _has_browser(item):
            item.add_marker(pytest.mark.timeout(PATIENCE))
    if not hasattr(config, "workerinput"):
        return
    sizes = Counter(item.path for item in items)

    def turn(item):
        folder = item.path.parent.name
        place = FIRST.index(folder) if folder in FIRST else len(FIRST)
        if folder == LAST or {folder, item.path.name} & LATE:
            place = len(FIRST) + 1 + (folder == LAST)
        return place, 0 if folder == LAST else -sizes[item.path]

    items.sort(key=turn)


def pytest_runtest_setup(item):
    silent = item.config.stash.get(SILENT, None)
    if silent and _has_browser(item):
        pytest.fail(f"the browser did not answer in {silent}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if _has_browser(item) and call.excinfo is not None and "Timeout (>" in str(call.excinfo.value):
        item.config.stash[SILENT] = item.nodeid
    return report


def _has_browser(item):
    return "chromium" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH: apt install chromium, or name one in CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    playwright.expect.set_options(timeout=60_000)  # a busy machine takes longer than the default to import torch
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()
        # the driver ends when its input does, and whoever was forked off since has that open
        for child in multiprocessing.active_children():
            child.terminate()
            child.join()


@pytest.fixture(autouse=True)
def _no_worker_stays():
    """End the workers of loaders that nobody has any more: such a loader is garbage, but in a cycle."""
    yield
    if multiprocessing.active_children():
        gc.collect()


@pytest.fixture(autouse=True)
def _no_loop_of_the_browser(request):
    """Give a test without a browser a thread without an event loop: the browser's seems to run in it till the end."""
    loop = asyncio._get_running_loop()
    if loop is None or "chromium" in request.fixturenames:
        yield
        return
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)
