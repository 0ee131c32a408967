"""This file is the examples of the four documents, run as their readers would: what they leave undefined is given."""

import ast
import asyncio
import inspect
import logging
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.modules import module as hooks_of_all

import torchmagic
from torchmagic.debuggers.switches import switches

EXAMPLES = Path(__file__).parent / "examples"


def path_of(name):
    """Return the file of an example, such as ``guide/04``: document and number of the code block in it."""
    document, _, number = name.partition("/")
    (path,) = (EXAMPLES / document).glob(f"{number}_*")
    return path


def code_of(text, path):
    return compile(text, path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def offered(text):
    """Return the names of torchmagic that a text uses without importing them."""
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return {name: getattr(torchmagic, name) for name in used & set(torchmagic.__all__)}


class Examples:
    """The examples, by document and number."""

    def text(self, name):
        return path_of(name).read_text(encoding="utf-8")

    def run(self, name, *, ends="", **given):
        """Run an example; return the names that it leaves.

        Args:
            name: Such as ``guide/04``.
            ends: What is to stand behind it, where its last block has nothing but comments in it.
            **given: What the document takes for granted, such as ``model``.
        """
        names, code = self._prepared(name, ends, given)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, names))  # noqa: S307 - an example of the documents
        else:
            exec(code, names)  # noqa: S102 - the same
        return names

    async def arun(self, name, **given):
        """Run an example that awaits within a loop that goes on."""
        names, code = self._prepared(name, "", given)
        await eval(code, names)  # noqa: S307 - the same
        return names

    def statements(self, name, **given):
        """Run an example statement by statement; yield each and the names after it."""
        names, _ = self._prepared(name, "", given)
        for statement in ast.parse(self.text(name)).body:
            exec(code_of(ast.unparse(statement), path_of(name)), names)  # noqa: S102 - the same
            yield ast.unparse(statement), names

    def _prepared(self, name, ends, given):
        text = self.text(name) + ends
        names = {"__name__": "__main__", "torch": torch, "nn": nn, **offered(text), **given}
        return names, code_of(text, path_of(name))


@pytest.fixture
def examples():
    return Examples()


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """Give each example a folder, a session and seeds of its own; see that torch is as it was when it has ended."""
    monkeypatch.chdir(tmp_path)
    torchmagic.session.folder = tmp_path
    torch.manual_seed(0)
    modes, hooks = modes_of_torch(), hooks_on_all()
    yield
    assert modes_of_torch() == modes
    assert hooks_on_all() == hooks
    switches.reset()
    torchmagic.session.folder = None
    torchmagic.session.clear()


def modes_of_torch():
    return torch.is_anomaly_enabled(), torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")


def hooks_on_all():
    return {name: len(kept) for name, kept in vars(hooks_of_all).items() if isinstance(kept, dict)}


class Heard(logging.Logger):
    """The plain logger that documents call ``logger``, which keeps what it is told; the guide's has ``log_warning``."""

    def __init__(self):
        super().__init__("examples")
        self.lines = []
        self.log_warning = self.warning

    def handle(self, record):
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


@pytest.fixture
def logger():
    return Heard()


@pytest.fixture
def lesson():
    """A small task that can be learned: model, optimizer, criterion, data and target, under the documents' names."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    data = torch.randn(32, 8)
    target = data.sum(dim=1, keepdim=True)
    return {
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.05),
        "criterion": nn.MSELoss(),
        "data": data,
        "target": target,
    }


class Fit(nn.Module):
    """A model whose output is its loss, as the guide has it; from its ``breaks``-th forward on it is not a number."""

    def __init__(self, breaks=None):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.breaks, self.calls = breaks, 0

    def forward(self, inputs):
        self.calls += 1
        loss = self.layer(inputs).square().mean()
        return loss * float("nan") if self.breaks is not None and self.calls >= self.breaks else loss


@pytest.fixture
def fit():
    def make(breaks=None):
        torch.manual_seed(0)
        model = Fit(breaks)
        return {
            "model": model,
            "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
            "inputs": torch.randn(16, 4),
        }

    return make


@pytest.fixture
def norm_of_gradients():
    """The norm of all gradients of a model, by numpy in double precision."""

    def norm(model):
        grads = [each.grad.double().numpy() for each in model.parameters() if each.grad is not None]
        return float(sum((grad**2).sum() for grad in grads) ** 0.5)

    return norm
