"""The endpoints of the "PyTorch Debugging Guide" answer with its keys, and with the numbers of the debuggers."""

import gc
import json
import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import torchmagic

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
TOKEN = "a-token-for-tests-only"  # noqa: S105 - it guards a server that lives for one test


@pytest.fixture
def ask(examples):
    """Send the requests that an example shows, as ``ask("guide/08")``; return the answer."""
    gc.collect()  # what debuggers of earlier tests counted is told as long as they are alive
    with torchmagic.serve(token=TOKEN) as server, httpx.Client(base_url=server.url) as client:

        def send(name, *, token=TOKEN):
            method, _, path = examples.text(name).strip().partition(" ")
            return client.request(method, path, headers={"Authorization": f"Bearer {token}"})

        yield send


def documented(examples, name):
    return json.loads(examples.text(name))


def has_keys_of(answer, shown):
    """Return whether an answer has the keys of a document's, with values of the same kind, at every depth."""
    return all(
        key in answer
        and (
            has_keys_of(answer[key], value)
            if isinstance(value, dict)
            else type(answer[key]) in ({int, float} if isinstance(value, float) else {int})
        )
        for key, value in shown.items()
    )


def test_without_a_debugger_the_answers_have_the_documents_keys(examples, ask):
    assert has_keys_of(ask("guide/08").json(), documented(examples, "guide/09"))
    assert has_keys_of(ask("guide/10").json(), documented(examples, "guide/11"))


def test_the_summaries_have_the_numbers_of_the_debuggers(examples, ask, fit):
    trained = examples.run("guide/02", num_steps=5, **fit(breaks=3))
    general = torchmagic.PyTorchDebugger()
    for value in (math.nan, 1.0, math.inf):
        general.analyze_tensor(torch.tensor([value]), "values")
    diffusion = torchmagic.DiffusionModelDebugger()
    pipeline = SimpleNamespace(unet=nn.Conv2d(1, 1, 1))
    for step, value in enumerate((1.0, math.nan)):
        diffusion.monitor_diffusion_step(pipeline, step, torch.randn(1, 1, 8, 8) * value)
    answer = ask("guide/08").json()
    assert has_keys_of(answer, documented(examples, "guide/09"))
    assert answer["training_debugger"]["total_steps"] == 5
    assert answer["training_debugger"]["total_anomalies"] == 3
    assert answer["training_debugger"]["anomaly_rate"] == pytest.approx(0.6)
    assert answer["diffusion_debugger"]["total_anomalies"] == 1
    assert answer["diffusion_debugger"]["debug_history_length"] == 2
    assert answer["general_debugger"]["total_anomalies"] == general.get_debug_summary()["total_anomalies"] == 2
    assert general.get_debug_summary()["debug_history_length"] == answer["general_debugger"]["debug_history_length"]
    answer = ask("guide/10").json()
    assert {key: answer[key] for key in trained["summary"]} == trained["summary"]
    assert (answer["anomaly_steps"], answer["loss_anomalies"]) == (3, 3)


def test_the_level_is_set_for_the_session(ask):
    assert ask("guide/12").json() == {"level": "advanced"}
    assert torchmagic.session.level == "advanced"


def test_histories_are_cleared(examples, ask, fit):
    left = examples.run("guide/02", num_steps=3, **fit(breaks=1))
    assert ask("guide/13").is_success
    assert left["debugger"].get_training_summary()["total_steps"] == 0
    assert ask("guide/10").json()["total_steps"] == 0


@pytest.mark.parametrize("name", ["guide/08", "guide/10", "guide/12", "guide/13"])
def test_nothing_is_told_or_done_without_the_token(ask, name):
    assert ask(name, token="another-token-than-that").status_code == 401  # noqa: S106 - a wrong one
    assert torchmagic.session.level is None
