"""This file tests runs of which more than one thread has a part."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic.records.note import FailureRecord, NoteRecord

STEPS = 150


def training(seed=0):
    """A training with random numbers of its own, so that it is the same beside any other."""
    numbers = torch.Generator().manual_seed(seed)
    net = nn.Sequential(nn.Linear(8, 16), nn.Sequential(nn.ReLU(), nn.Linear(16, 2)))
    with torch.no_grad():
        for each in net.parameters():
            each.copy_(torch.randn(each.shape, generator=numbers) / 4)
    inputs = torch.randn(32, 8, generator=numbers)
    return net, torch.optim.SGD(net.parameters(), lr=0.1), inputs, (inputs[:, 0] > 0).long()


def train(net, optimizer, inputs, labels, *, steps=STEPS, each_step=None):
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        if each_step is not None:
            each_step()


def in_threads(*deeds):
    """Do things at once; what a thread raises is raised here."""
    with ThreadPoolExecutor(len(deeds)) as pool:
        for waiting in [pool.submit(deed) for deed in deeds]:
            waiting.result(timeout=300)


def weights(net):
    return torch.cat([each.detach().flatten() for each in net.parameters()])


@pytest.mark.parametrize("level", ["basic", "expert"])
def test_of_two_threads_that_train_at_once_one_is_watched_and_both_train_as_ever(level):
    plain, seen = [training(0), training(1)], [training(0), training(1)]
    for each in plain:
        train(*each)
    meeting = threading.Barrier(2, timeout=60)
    with torchmagic.watch(level=level, save=False, anomaly="auto") as run:
        in_threads(*[lambda each=each: train(*each, each_step=meeting.wait) for each in seen])
    for one, other in zip(plain, seen, strict=True):
        assert torch.equal(weights(one[0]), weights(other[0]))
    assert run.of(FailureRecord) == []
    assert STEPS - 2 <= run.steps <= STEPS
    assert len(run.series("loss")[0]) == pytest.approx(STEPS, abs=2)
    assert ["Another thread trained" in note.text for note in run.of(NoteRecord)].count(True) == 1
    assert [each.rule for each in run.findings if each.severity == "error"] == []


def test_a_run_in_each_thread_sees_its_own():
    meeting, runs = threading.Barrier(2, timeout=60), {}

    def watched(number):
        with torchmagic.watch(level="basic", save=False) as runs[number]:
            train(*training(number), steps=40, each_step=meeting.wait)

    in_threads(lambda: watched(0), lambda: watched(1))
    assert (runs[0].steps, runs[1].steps) == (40, 40)
    assert all(run.of(FailureRecord) == [] for run in runs.values())
    assert not any("Another thread" in note.text for run in runs.values() for note in run.of(NoteRecord))


def test_a_thread_that_trains_while_the_opener_waits_is_watched_from_its_first_step_on():
    with torchmagic.watch(level="basic", save=False) as run:
        train(*training(0), steps=10)
        for number in (1, 2):
            worker = threading.Thread(target=train, args=training(number), kwargs={"steps": 10})
            worker.start()
            worker.join(60)
        train(*training(3), steps=10)
    assert run.steps == 40
    assert len(run.series("loss")[0]) == 40
    assert not any("Another thread" in note.text for note in run.of(NoteRecord))


@pytest.mark.parametrize("level", ["advanced", "expert"])
def test_the_weights_of_a_thread_whose_turn_is_over_are_left_to_it(level):
    trainings = [training(0), training(1)]
    with torchmagic.watch(level=level, save=False) as run:
        in_threads(lambda: train(*trainings[1], steps=10))
        train(*trainings[0], steps=10)
    assert run.of(FailureRecord) == []
    assert run.steps == 20
    steps, lengths = run.series("weight_norm_at_end", parameter="net.0.weight")
    assert len(steps) == 1
    assert lengths[0] == pytest.approx(trainings[0][0][0].weight.norm().item(), rel=1e-5)


@pytest.mark.parametrize("level", ["advanced", "expert"])
def test_a_step_in_the_midst_of_which_another_thread_trains_is_over_for_who_measures(level):
    net, optimizer, inputs, labels = training(0)
    other, meeting = training(1), threading.Barrier(2, timeout=60)

    def beside():
        for _ in range(5):
            meeting.wait()
            train(*other, steps=1)
            meeting.wait()

    def closure():
        for _ in range(2):
            meeting.wait()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        return loss

    with torchmagic.watch(level=level, save=False) as run:
        in_threads(lambda: [optimizer.step(closure) for _ in range(5)], beside)
    assert run.of(FailureRecord) == []
    assert run.steps in (4, 5)


def test_a_thread_that_only_runs_a_model_beside_the_training_takes_nothing_from_it():
    acting, over = training(1)[0], threading.Event()

    def act():
        with torch.no_grad():
            while not over.wait(0.001):
                acting(torch.ones(4, 8))

    actor = threading.Thread(target=act)
    with torchmagic.watch(level="advanced", save=False) as run:
        actor.start()
        try:
            train(*training(0))
        finally:
            over.set()
            actor.join(60)
    assert (run.steps, run.of(FailureRecord)) == (STEPS, [])
    assert len(run.series("loss")[0]) == STEPS
    assert not any("Another thread" in note.text for note in run.of(NoteRecord))
