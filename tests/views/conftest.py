"""This file is a run in which everything that a page can tell was recorded, made by hand."""

import pytest

from torchmagic.records.activation import ActivationRecord, TensorFacts
from torchmagic.records.data import BadSampleRecord, BatchRecord, ClassCountsRecord, Source
from torchmagic.records.device import Cargo, DeviceRecord, DeviceTotal, TransferRecord
from torchmagic.records.evaluation import EvaluationRecord, StoppingRecord
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.memory import HolderRecord, RetainedGraphRecord, UnseenGraphRecord
from torchmagic.records.model import LoaderRecord, ParameterRecord
from torchmagic.records.place import Place
from torchmagic.records.precision import (
    AutocastBackwardRecord,
    AutocastRecord,
    Deed,
    GradScalerRecord,
    HalfWeightsRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    SkippedStepRecord,
)
from torchmagic.records.reach import ReachRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run, Status

NUM_STEPS = 8
CATEGORIES = ("parameters", "gradients", "optimizer state", "activations", "batch", "other")


def full_run(word="net"):
    """Return a run with every kind of record, in which ``word`` stands wherever a name of the user's may."""
    run, place = Run(name=word), Place(file="<cell>", line=3, source=f"{word}.backward()")
    facts = TensorFacts(shape=(4, 8), dtype="float16", device="cuda:0")
    total = DeviceTotal(device="cuda:0", num_tensors=2, num_bytes=160)
    run.records += [
        ParameterRecord(
            name=f"{word}.weight",
            model=word,
            module=word,
            shape=(8, 4),
            dtype="float16",
            device="cuda:0",
            trainable=True,
        ),
        LoaderRecord(name=word, batch_size=4, num_workers=2, sampler=word, num_batches=8, dataset=word, num_samples=32),
        BackwardRecord(name=word, place=place),
        ActivationRecord(module=word, class_name=word, inputs=(facts,), outputs=(facts,)),
        batch(word),
        BadSampleRecord(loader=word, field=word, step=1, epoch=0, batch=1, row=2, index=6, num_nan=1, num_infinite=0),
        ClassCountsRecord(
            source=Source.LOADER,
            name=word,
            field="1",
            num_batches=8,
            num_few=0,
            counts={word: 30, "1": 2},
        ),
        EvaluationRecord(
            model=word,
            step=4,
            loader=word,
            num_batches=2,
            num_losses=2,
            training=False,
            grad_enabled=False,
            recorded_graph=False,
            awake=(),
            loss_names=(word,),
            also_trained=True,
            trained_on=False,
            place=place,
        ),
        StoppingRecord(
            subject=word, num_passes=3, best=1.0, best_step=4, since_best=1, steps_since_best=4, holds_best=False
        ),
        schedule(word),
        RetainedGraphRecord(step=7, count=5, oldest=2, holders=(word,), num_bytes=4096),
        HolderRecord(
            name=word,
            keeper="output",
            num_bytes=2**21,
            shape=(4,),
            dtype="float32",
            device="cpu",
            has_graph=True,
            also=word,
        ),
        UnseenGraphRecord(step=0, nodes=(word,), complete=True),
        DeviceRecord(model=word, step=0, parameters=(total,), buffers=(), inputs=(facts,)),
        TransferRecord(
            what=Cargo.BATCH,
            model=word,
            step=0,
            source="cpu",
            target="cuda:0",
            num_bytes=128,
            pinned=False,
            place=place,
        ),
        AutocastRecord(model=word, step=0, enabled=True, device_type="cuda", dtype="float16", inside=True),
        AutocastBackwardRecord(step=0, device_type="cuda", dtype="float16", place=place),
        HalfWeightsRecord(model=word, step=0, dtype="float16", num_half=1, num_parameters=1),
        GradScalerRecord(
            step=0,
            optimizer=word,
            enabled=True,
            scale=65536.0,
            growth_factor=2.0,
            backoff_factor=0.5,
            growth_interval=2000,
        ),
        SkippedStepRecord(step=1, optimizer=word, scale=32768.0, place=place),
        ScaledGradientsRecord(step=2, deed=Deed.CLIP, scale=65536.0, place=place),
        ScalerUseRecord(
            num_scaled=8,
            num_unscaled=0,
            num_steps=7,
            num_skipped=1,
            num_updates=8,
            num_clipped_while_scaled=1,
            num_past=0,
        ),
        ReachRecord(
            loss=word,
            place=place,
            step=0,
            has_graph=True,
            num_nodes=5,
            num_reached=1,
            models=(word,),
            unreached=(f"{word}.bias",),
            num_unreached=1,
            frozen=(),
            num_frozen=0,
            untouched=(word,),
            num_other_leaves=0,
            opaque=(),
        ),
    ]
    for step in range(NUM_STEPS):
        loss = 2.0 / (step + 1)
        columns = {
            "loss": loss,
            "grad_nonfinite": 0.0,
            "grad_mean": 0.1,
            "update_swallowed": 0.25,
            "activation_mean": 0.0,
            "activation_std": loss,
            "activation_abs_max": 3.0,
            "activation_zero_share": 0.5,
            "activation_nonfinite": 0.0,
            "activation_saturation": 0.2,
            "activation_headroom": 12.0 - step,
            "dead_share": 0.125,
            "batch_wait": 0.002,
            "order_repeated": 1.0,
        }
        for metric, value in columns.items():
            run.frame(metric, (word,)).append(step, (value,))
        for metric in ("grad_norm", "weight_norm", "update_ratio"):
            run.frame(metric, (f"{word}.weight",)).append(step, (loss,))
        run.frame("lr", (f"{word}[0]", f"{word}[1]")).append(step, (0.1 if step < 4 else 0.01, 0.5))
        run.frame("memory_bytes", CATEGORIES).append(step, (2**20, 2**20, 2**21, step * 2**18, 2**16, 2**28))
        run.frame("grad_scale", ("",)).append(step, (65536.0 if step < 2 else 32768.0,))
        run.frame("live_graphs", ("",)).append(step, (float(step),))
        run.frame("rss_bytes", ("",)).append(step, (2**28,))
        if step % 4 == 3:
            run.frame("schedule_steps", (word,)).append(step, (step // 4 + 1,))
    for passes, loss in enumerate((2.0, 1.0, 1.5)):
        run.frame("eval_loss", (word,)).append(4 * passes, (loss,))
    run.records += [snapshot(word, step, width) for step, width in ((0, 1.0), (4, 2.0), (8, 4.0))]
    run.steps, run.status = NUM_STEPS, Status.OK
    run.clock.seconds, run.clock.cost = 1.0, 0.01
    return run


def batch(name, **facts):
    known = {
        "source": Source.LOADER, "name": name, "field": "0", "step": 0, "shape": (4, 8), "dtype": "float32",
        "layout": "contiguous", "device": "cpu", "low": -1.0, "high": 2.0, "mean": 0.5, "std": 1.0,
    }  # fmt: skip
    return BatchRecord(**{**known, **facts})


def schedule(name, **facts):
    known = {
        "name": name, "class_name": "StepLR", "optimizer": "opt", "settings": {"step_size": 4.0, "gamma": 0.1},
        "base_lr": (0.1,), "parts": (), "step": 3, "stepped": True, "before_optimizer": False, "metric": False,
        "scaled": False, "built": None, "place": None,
    }  # fmt: skip
    return ScheduleRecord(**{**known, **facts})


def snapshot(subject, step, width, *, what=SnapshotKind.WEIGHT, count=25):
    edges = tuple(width * (i / 4 - 0.5) for i in range(5))
    return SnapshotRecord(
        what=what, subject=subject, step=step, histogram=Histogram(edges=edges, counts=(count,) * 4), values=()
    )


@pytest.fixture
def full():
    """A run in which everything was recorded."""
    return full_run()


@pytest.fixture
def make_full():
    """Make such a run around a name."""
    return full_run


@pytest.fixture
def make_batch():
    """Make a record of a batch from what is not usual about it."""
    return batch


@pytest.fixture
def make_schedule():
    """Make a record of a scheduler from what is not usual about it."""
    return schedule


@pytest.fixture
def make_snapshot():
    """Make a record of values spread evenly over a width."""
    return snapshot
