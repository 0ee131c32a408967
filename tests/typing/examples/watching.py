"""A script that watches a training and reads what was found."""

from pathlib import Path
from typing import Any, assert_type

import torch
from torch import nn

import torchmagic


def train(model: nn.Module, data: torch.Tensor) -> torchmagic.Run:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torchmagic.watch(level="basic", name="a script", save=False) as run:
        assert_type(run, torchmagic.Run)
        for _ in range(3):
            optimizer.zero_grad()
            model(data).square().mean().backward()
            optimizer.step()
    return run


def told(run: torchmagic.Run) -> list[str]:
    assert_type(run.findings, tuple[torchmagic.Finding, ...])
    assert_type(run.steps, int)
    assert_type(run.overhead, float)
    assert_type(run.series("loss"), tuple[list[int], list[float]])
    assert_type(run.parameters, list[dict[str, Any]])
    assert_type(run.to_json(), str)
    return [f"{each.severity}: {each.title}" for each in run.findings if each.severity is torchmagic.Severity.ERROR]


def last(session: torchmagic.Session) -> torchmagic.Run | None:
    session.enable("memory", "gradients")
    assert_type(session.level, str | None)
    session.level = "advanced"
    return session.last


def kept(run: torchmagic.Run, path: Path) -> torchmagic.Run:
    run.save(path)
    assert_type(torchmagic.load(path), torchmagic.Run)
    return torchmagic.load(path)


def stopped(model: nn.Module, data: torch.Tensor) -> str:
    try:
        with torchmagic.watch(anomaly="raise"):
            train(model, data)
    except torchmagic.NonFiniteError as error:
        return str(error)
    return torchmagic.__version__


def served() -> str:
    assert_type(torchmagic.session, torchmagic.Session)
    with torchmagic.serve() as server:
        assert_type(server.token, str)
        return server.url


def profiled(model: nn.Module, data: torch.Tensor) -> torchmagic.Run:
    with torchmagic.profile(steps=5) as run:
        model(data)
    assert_type(run, torchmagic.Run)
    return run


def looked_at(model: nn.Module, data: torch.Tensor) -> str:
    return f"{torchmagic.tensorinfo(data, name='data')}\n{torchmagic.modelinfo(model, batch=data)}"


settings = torchmagic.Settings.from_dict({"level": "basic"})
assert_type(settings, torchmagic.Settings)
assert_type(settings.budget_share, float)
