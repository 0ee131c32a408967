"""This file tests the text of a run in few lines: what it says, and that a healthy run costs a reader little."""

import os
import re
import time

import pytest
import torch
from golden_files import GOLDEN
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmagic
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.session.run import Run, Status
from torchmagic.views.brief import run_text

MOST_TOKENS = 400
MARGIN = 0.05
SECONDS_A_ROW = 0.0005


def tokens(text):
    """Return about as many tokens as byte-pair encoders make: a word has one each five letters, a number each three.

    On the texts of these tests o200k_base and cl100k_base make between 0.97 and 1.03 times as many.
    """
    parts = re.findall(r"[A-Za-z]+|[0-9]+|\s{2,}|\n|[^A-Za-z0-9\s]", text)
    return sum(-(-len(part) // (5 if part[0].isalpha() else 3)) if part[0].isalnum() else 1 for part in parts)


class Slow(TensorDataset):
    """Rows that take their time, so that the wait for them is told on a busy machine too, whose steps take longer."""

    def __getitem__(self, index):
        time.sleep(SECONDS_A_ROW)
        return super().__getitem__(index)


@pytest.fixture(scope="module")
def healthy():
    """Return a healthy run at the closest level: loaders, evaluation, a schedule, clipping."""
    torch.manual_seed(0)
    inputs = torch.randn(256, 1, 12, 12)
    targets = (inputs.mean((1, 2, 3)) > 0).long()
    train = DataLoader(Slow(inputs[:192], targets[:192]), batch_size=32, shuffle=True)
    test = DataLoader(TensorDataset(inputs[192:], targets[192:]), batch_size=64)
    layers = [nn.Conv2d(1, 4, 3), nn.GELU(), nn.Conv2d(4, 4, 3), nn.GELU(), nn.Flatten(), nn.Linear(256, 2)]
    net = nn.Sequential(*layers)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
    with torchmagic.watch(level="expert", name="healthy", save=False) as run:
        for _ in range(5):
            net.train()
            for batch, labels in train:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(net(batch), labels)
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 5.0)
                optimizer.step()
            net.eval()
            with torch.no_grad():
                for batch, labels in test:
                    nn.functional.cross_entropy(net(batch), labels)
            schedule.step()
    run.findings = ()
    return run


def test_a_healthy_run_takes_less_than_400_tokens_and_says_what_matters(healthy):
    text = healthy.to_text()
    assert tokens(text) < (1 - MARGIN) * MOST_TOKENS, text
    assert text.startswith("healthy · ok · 30 steps · ")
    for word in (
        "no findings",
        "Nothing found wrong in 30 steps.",
        "net (Sequential, ",
        "AdamW, lr 0.002",
        "(6 batches of 32, RandomSampler)",
        "loss ",
        "evaluation ",
        "best ",
        "gradient norm",
        "learning rate",
        "a step, waiting for data",
        "process ",
        "torch 2.",
    ):
        assert word in text, word


def test_the_whole_is_there_for_those_who_ask(healthy):
    full = healthy.to_text(full=True)
    for title in ("Findings", "Curves", "Parameters", "Memory & time"):
        assert f"{title}\n─" in full
    assert tokens(full) > 2 * MOST_TOKENS


def test_everything_that_can_be_told_is_told_in_few_lines(full):
    full.findings = (
        Finding(rule="plateau", severity=Severity.WARNING, confidence=0.9, title="it rests", why="so", fix="move"),
    )
    text = run_text(full, more="More: %torchsession show 1") + "\n"
    path = GOLDEN / "brief.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_run_with_very_many_parts_stays_short():
    run = Run(name="many")
    for number in range(500):
        run.frame("loss", (f"loss{number}",)).append(0, (1.0,))
        run.records.append(
            LoaderRecord(
                name=f"loader{number}",
                batch_size=4,
                num_workers=0,
                sampler="x" * 500,
                num_batches=8,
                dataset="d",
                num_samples=32,
            )
        )
    run.status = Status.OK
    text = run_text(run)
    assert len(text.splitlines()) < 80
    assert "more" in text


def test_a_run_that_was_lost_says_so_first():
    run = Run(name="dead")
    run.frame("loss", ("",)).append(0, (1.0,))
    run.status, run.steps, run.clock.seconds = Status.LOST, 1, 2.0
    text = run_text(run)
    assert "The kernel died while this run went on" in text.splitlines()[2]


def test_a_run_made_by_hand_says_that_nothing_draws_it():
    with pytest.raises(ValueError, match=r"nothing to draw it with; load it with torchmagic\.load"):
        Run().to_text()
