"""Metrics by batch and by epoch: numbers from wherever they come, means that are right, memory that does not grow."""

import gc
import math
import threading
import weakref

import numpy as np
import pytest
import torch

from torchmagic import TrainingLoggingManager


@pytest.fixture
def manager(quietly):
    with TrainingLoggingManager("debug_experiment", **quietly) as manager:
        yield manager


def test_the_metrics_of_the_documents_training_step(manager, lines):
    metrics = {
        "loss": 2.5,
        "gradient_norm": 0.1,
        "param_norm": 3.0,
        "cpu_memory": 1.0,
        "gpu_memory": 0.0,
        "execution_time": 0.01,
    }
    manager.log_batch_metrics(metrics)
    (line,) = lines(manager)
    assert line["event"] == "batch_metrics"
    assert line["fields"] == metrics
    assert line["experiment"] == "debug_experiment"
    assert manager.num_batches == 1


def test_an_experiment_needs_no_name(quietly, lines):
    with TrainingLoggingManager(**quietly) as manager:
        manager.log_batch_metrics({"loss": 1})
        assert lines(manager)[0]["experiment"] == ""
        assert manager.path.name.startswith("training-")


def test_metrics_may_be_tensors_arrays_and_anything_else(manager, lines):
    manager.log_batch_metrics(
        {
            "loss": torch.tensor(0.5, requires_grad=True),
            "accuracy": np.float32(0.25),
            "array": np.array([[2]]),
            "confusion": torch.eye(2),
            "note": "warm",
            "broken": math.nan,
        },
        epoch=3,
    )
    (line,) = lines(manager)
    confusion = {"shape": [2, 2], "dtype": "float32", "device": "cpu", "values": [[1.0, 0.0], [0.0, 1.0]]}
    assert line["fields"] == {
        "epoch": 3,
        "loss": 0.5,
        "accuracy": 0.25,
        "array": 2,
        "confusion": confusion,
        "note": "warm",
        "broken": "NaN",
    }
    assert manager.latest["loss"] == 0.5
    assert set(manager.latest) == {"loss", "accuracy", "array", "broken"}


def test_an_epoch_without_metrics_gets_the_means_of_its_batches(manager, lines):
    for epoch in range(2):
        for batch in range(4):
            manager.log_batch_metrics({"loss": torch.tensor(float(10 * epoch + batch)), "note": "x"})
        assert manager.log_epoch_metrics() == {"loss": 10 * epoch + 1.5}
    told = [line["fields"] for line in lines(manager, "epoch_metrics")]
    assert told == [{"epoch": 0, "loss": 1.5}, {"epoch": 1, "loss": 11.5}]
    assert manager.num_epochs == 2


def test_a_metric_that_came_in_some_batches_is_the_mean_of_those_and_nan_is_not_hidden(manager):
    manager.log_batch_metrics({"loss": 1.0, "auc": 0.5})
    manager.log_batch_metrics({"loss": math.nan})
    means = manager.log_epoch_metrics()
    assert means["auc"] == 0.5
    assert math.isnan(means["loss"])


def test_given_metrics_of_an_epoch_are_logged_as_given(manager, lines):
    assert manager.log_epoch_metrics({"val_loss": 0.5}, epoch=7, split="val") == {"val_loss": 0.5}
    assert lines(manager)[0]["fields"] == {"epoch": 7, "split": "val", "val_loss": 0.5}
    assert manager.latest == {"val_loss": 0.5}


@pytest.mark.parametrize("metrics", [None, 0.5, [("loss", 1)], "loss"])
def test_metrics_that_have_no_names_are_one_line(manager, metrics):
    with pytest.raises(TypeError, match=r"metrics are given by name, such as \{'loss': 0.5\}; \w+ came"):
        manager.log_batch_metrics(metrics)


def test_no_tensor_is_held_and_what_is_kept_does_not_grow(manager):
    loss = torch.tensor(1.0)
    gone = weakref.ref(loss)
    manager.log_batch_metrics({"loss": loss})
    del loss
    gc.collect()
    assert gone() is None
    for _ in range(2_000):
        manager.log_batch_metrics({"loss": 1.0})
    assert len(manager._sums) == len(manager._newest) == 1
    assert not manager._pending


def test_threads_may_log_at_once_and_every_batch_counts(manager, lines):
    def log():
        for _ in range(200):
            manager.log_batch_metrics({"loss": 2.0})

    workers = [threading.Thread(target=log) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert manager.num_batches == 800
    assert manager.log_epoch_metrics() == {"loss": 2.0}
    assert {line["message"] for line in lines(manager, "batch_metrics")} == {f"batch {n}" for n in range(800)}
