"""This file tests passes: how far the pass is that feeds the training, for loops of many shapes, right or not told."""

import io
import warnings

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.passes import Passes
from torchmagic.session.session import Session

FEW, MANY = (TensorDataset(torch.zeros(rows, 4)) for rows in (40, 120))


class Stream(IterableDataset):
    """Gives forty rows, and says so."""

    def __iter__(self):
        yield from torch.zeros(40, 4)

    def __len__(self):
        return 40


class Evening:
    """A model, an optimizer, and a place to see from where a run stands."""

    def __init__(self):
        self.net = nn.Linear(4, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.01)

    def step(self, x):
        self.opt.zero_grad()
        self.net(x).pow(2).mean().backward()
        self.opt.step()


def plain(evening):
    train, test = DataLoader(FEW, 8), DataLoader(MANY, 8)
    for epoch in range(6):
        for i, (x,) in enumerate(train):
            yield i + 1, 5, epoch + 1
            evening.step(x)
        with torch.no_grad():
            for (x,) in test:
                evening.net(x)


def one_line_for_both(evening):
    train, test = DataLoader(FEW, 8), DataLoader(MANY, 8)

    def go(loader, *, trains, epoch):
        for i, (x,) in enumerate(loader):
            if trains:
                yield i + 1, 5, epoch + 1
                evening.step(x)

    for epoch in range(6):
        yield from go(train, trains=True, epoch=epoch)
        yield from go(test, trains=False, epoch=epoch)


def made_anew(evening):
    for epoch in range(6):
        for i, (x,) in enumerate(DataLoader(FEW, 8)):
            yield i + 1, 5, epoch + 1
            evening.step(x)


def with_a_bar(evening):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tqdm = pytest.importorskip("tqdm").tqdm
    for epoch in range(6):
        for i, (x,) in enumerate(tqdm(DataLoader(FEW, 8), file=io.StringIO())):
            yield i + 1, 5, epoch + 1
            evening.step(x)


def stream(evening):
    for i, x in enumerate(DataLoader(Stream(), 2)):
        yield i + 1, None, 1
        evening.step(x)


def accumulated(evening):
    for epoch in range(3):
        for i, (x,) in enumerate(DataLoader(MANY, 4)):
            evening.net(x).pow(2).mean().backward()
            if i % 3 == 2:
                yield i + 1, 30, epoch + 1
                evening.opt.step()
                evening.opt.zero_grad()


def side_by_side(evening):
    for epoch in range(6):
        for i, ((x,), _) in enumerate(zip(DataLoader(FEW, 4), DataLoader(MANY, 4), strict=False)):
            yield i + 1, None, epoch + 1
            evening.step(x)


def inside_another(evening):
    for number, _ in enumerate(DataLoader(FEW, 10), start=1):
        for i, (x,) in enumerate(DataLoader(MANY, 8)):
            yield i + 1, 15, number
            evening.step(x)


def by_hand(evening):
    for _ in range(20):
        yield 0, None, 0
        evening.step(torch.zeros(8, 4))


def several_steps_a_batch(evening):
    for (x,) in DataLoader(FEW, 4):
        for _ in range(3):
            yield 0, None, 0
            evening.step(x)


def standings(loop, every):
    """Follow a loop; return what it says of itself and what was told, at each so many steps."""
    passes, told, evening, said = Passes(), [], Evening(), None

    def look(run):
        if run.steps % every == 0:
            told.append((said, tuple(passes.look(run.steps) or (0, None, 0))))

    watching = Watch(Settings(save=False, level="basic"), session=Session(), on_step=look, beside=(passes,))
    watching.start()
    try:
        for said in loop(evening):  # noqa: B007 - what is said is read in the step
            pass
    finally:
        watching.stop()
    return told


SHAPES = (plain, one_line_for_both, made_anew, with_a_bar, stream, accumulated, side_by_side, inside_another)


@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("loop", SHAPES, ids=lambda loop: loop.__name__)
def test_what_is_told_of_a_pass_is_right(loop, every):
    told = standings(loop, every)
    answers = [(said, answer) for said, answer in told if answer[0]]
    assert len(answers) >= len(told) // 3
    assert [answer for _, answer in answers] == [said for said, _ in answers]


@pytest.mark.parametrize("loop", [by_hand, several_steps_a_batch], ids=lambda loop: loop.__name__)
def test_where_no_loader_gives_a_batch_a_step_nothing_is_told(loop):
    assert {answer for _, answer in standings(loop, 2)} == {(0, None, 0)}
