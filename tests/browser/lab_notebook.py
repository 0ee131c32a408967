"""This file is a notebook open in JupyterLab: the few verbs that tests need, each waiting for what it asked for."""

import json
import re
import secrets
from contextlib import suppress
from pathlib import Path

import nbformat
from playwright.sync_api import expect

# as JupyterLab and Notebook 7 mark the notebook that is in front
_OPEN = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook"


class LabNotebook:
    """A notebook written to the server's folder, from cells or from a stored one, and open in a page.

    ``place`` is ``lab`` for JupyterLab, or ``notebooks`` for Notebook 7, which has a page for each notebook.
    """

    def __init__(self, page, lab, cells, *, name="watched.ipynb", place="lab"):
        self.page, self.lab, self.name, self.place = page, lab, name, place
        self.path = lab.notebooks / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(_without_outputs(cells) if isinstance(cells, Path) else _of_code(cells), self.path)
        self.reopen()

    def reopen(self):
        """Load the file afresh, in a workspace of its own, and wait until its kernel can run."""
        inside = f"lab/workspaces/auto-{secrets.token_hex(4)}/tree" if self.place == "lab" else self.place
        self.page.goto(f"{self.lab.url}/{inside}/{self.name}?token={self.lab.token}&reset")
        self.page.wait_for_selector(f"{_OPEN} .jp-Cell")
        self.wait_until_idle()

    def wait_until_idle(self):
        """Wait until the kernel can run."""
        # the toolbar says "idle" a moment before there is a kernel, and what is run then is dropped without a word
        for _ in range(600):
            kernels = [session["kernel"] for session in self.lab.sessions() if session["path"] == self.name]
            if kernels and kernels[0]["connections"] and kernels[0]["execution_state"] == "idle":
                break
            self.page.wait_for_timeout(100)
        self.page.wait_for_selector(f'{_OPEN}-ExecutionIndicator[data-status="idle"]')

    def cell(self, index):
        return self.page.locator(f"{_OPEN} .jp-Cell").nth(index)

    def output(self, index):
        return self.cell(index).locator(".jp-Cell-outputArea")

    def clear(self):
        """Clear all outputs and prompts, so that waiting for a cell does not meet its last run."""
        self.page.click('.lm-MenuBar-itemLabel:text-is("Edit")')
        self.page.click('.lm-Menu-itemLabel:text-is("Clear Outputs of All Cells")')

    def run(self, index):
        """Start a cell; see ``wait``."""
        self.cell(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def run_all(self):
        self.page.click('.lm-MenuBar-itemLabel:text-is("Run")')
        self.page.click('.lm-Menu-itemLabel:text-is("Run All Cells")')

    def wait(self, index, *, timeout=120_000):
        """Wait until the cell has run, well or badly."""
        expect(self.cell(index).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"), timeout=timeout)

    def save(self):
        """Save as a person does, and return what is in the file."""
        before = self.path.stat().st_mtime_ns
        self.cell(0).locator(".jp-InputPrompt").click()
        self.page.keyboard.press("Control+s")
        for _ in range(400):
            if self.path.stat().st_mtime_ns != before:
                with suppress(json.JSONDecodeError):  # the server may still be writing
                    return json.loads(self.path.read_text())
            self.page.wait_for_timeout(50)
        raise TimeoutError(f"{self.path} was not saved")


def _of_code(cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def _without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook
