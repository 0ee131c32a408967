"""This file is a small training of which a part is compiled, and what the compiler counts of it."""

from collections import Counter

import torch
from torch import nn
from torch._dynamo import utils as dynamo
from torch.nn import functional

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.session.session import Session

STEPS, STEPS_AFTER = 8, 2


def forget():
    torch._dynamo.reset()
    dynamo.counters.clear()
    dynamo.clear_compilation_metrics()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x):
        return x + functional.dropout(torch.tanh(self.inner(self.norm(x))), 0.2, self.training)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.block, self.last = nn.Linear(4, 8), nn.ReLU(), Block(), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(functional.relu(self.block(self.act(self.first(x)))))


class Cut(Net):
    def forward(self, x):
        x = self.act(self.first(x))
        torch._dynamo.graph_break()
        return self.last(self.block(x).softmax(1))


class Training:
    """A training, of which a part is compiled by ``how`` either before the run or as its first line."""

    def __init__(self, how, *, kind=Net, sizes=(8,), within=False, **options):
        torch.manual_seed(0)
        self.net = kind()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.sizes, self.losses = sizes, []
        self.call, self.loss_of, self.update = self.net, self._loss, self._update
        self._compile = lambda: how(self, **{"backend": "eager", **options})
        self._within = within

    def _loss(self, x, y):
        return functional.cross_entropy(self.call(x), y)

    def _update(self):
        self.optimizer.step()

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss_of(x, y)
        loss.backward()
        self.update()
        return loss.detach()

    def run(self, settings):
        """Train, watched where there are settings, and a little more unwatched; return the run."""
        if not self._within:
            self._compile()
        watching = settings and Watch(Settings(save=False, **settings), namespace=vars(self), session=Session())
        run = watching and watching.start()
        try:
            if self._within:
                self._compile()
            self._go(STEPS)
        finally:
            if watching:
                watching.stop()
        self._go(STEPS_AFTER)
        return run

    def _go(self, steps):
        for number in range(steps):
            size = self.sizes[number % len(self.sizes)]
            self.losses.append(self.step(torch.randn(size, 4), torch.randint(0, 3, (size,))))


def of_model(training, **options):
    training.call = torch.compile(training.net, **options)


def by_method(training, **options):
    training.net.compile(**options)


def of_a_part(training, **options):
    training.net.block.compile(**options)


def of_the_loss(training, **options):
    training.loss_of = torch.compile(training._loss, **options)


def of_the_step(training, **options):
    training.step = torch.compile(training.step, **options)


def of_the_optimizer(training, **options):
    training.update = torch.compile(training._update, **options)


def through_block(training, **options):
    """Compile a small model with the code generator, which takes seconds for a large one."""
    forward = torch.compile(training.net, **options)
    training.loss_of = lambda x, y: forward(torch.cat([x, x], 1)).square().mean() * y.shape[0]


WAYS = {
    "a model": (of_model, {}),
    "a model in the run": (of_model, {"within": True}),
    "a model differentiated ahead": (of_model, {"backend": "aot_eager"}),
    "a model by its method": (by_method, {}),
    "a model by its method in the run": (by_method, {"within": True, "backend": "aot_eager"}),
    "a model that is cut": (of_model, {"kind": Cut}),
    "a model of changing shapes": (of_model, {"sizes": (8, 9, 11)}),
    "a model of dynamic shapes": (of_model, {"sizes": (8, 9, 11), "dynamic": True, "backend": "aot_eager"}),
    "a model of one shape at a time": (of_model, {"sizes": (8, 9), "dynamic": False}),
    "a part": (of_a_part, {}),
    "the loss": (of_the_loss, {}),
    "the loss in the run": (of_the_loss, {"within": True}),
    "the step": (of_the_step, {}),
    "the step in the run": (of_the_step, {"within": True}),
    "the optimizer's step": (of_the_optimizer, {}),
}


def compiled(how, settings=None, **options):
    """Train with a part compiled; return the training, the run, and what the compiler counted."""
    forget()
    training = Training(how, **options)
    run = training.run(settings)
    notes = dynamo.get_compilation_metrics()
    return training, run, {
        "graphs": dynamo.counters["stats"]["unique_graphs"],
        "breaks": sum(dynamo.counters["graph_break"].values()),
        "again": Counter(note.co_name for note in notes if getattr(note, "recompile_reason", None)),
        "ours": {note.co_filename for note in notes if "torchmagic" in (note.co_filename or "")},
        "named": [note.co_name for note in notes if note.co_name],
    }  # fmt: skip
