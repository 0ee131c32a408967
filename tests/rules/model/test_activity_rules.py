"""This file tests the rules on what a model's outputs look like, on series written by hand."""

import math

import pytest

from torchmagic.records.activation import ActivationRecord, TensorFacts
from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.finding import Severity
from torchmagic.records.model import OptimizerRecord, ParameterRecord
from torchmagic.records.notebook import GlobalModesRecord
from torchmagic.records.place import Place
from torchmagic.records.structure import SquashRecord
from torchmagic.rules.model.dtype_float64 import dtype_float64
from torchmagic.rules.model.poor_init_scale import poor_init_scale
from torchmagic.rules.model.saturated_activation import saturated_activation
from torchmagic.rules.model.uniform_prediction import METRICS, uniform_prediction
from torchmagic.session.run import Run


def squashed(*shares, is_hidden=True, is_gate=False, place=None):
    run = Run()
    run.steps = len(shares)
    for step, share in enumerate(shares):
        run.frame("saturated_share", ("net.1",)).append(step, (share,))
    run.records.append(SquashRecord(module="net.1", function="tanh", is_hidden=is_hidden, is_gate=is_gate, place=place))
    return list(saturated_activation(run))


def test_a_hidden_activation_at_its_limits_is_a_warning():
    place = Place(file="<cell>", line=5, source="h = torch.tanh(x)")
    (finding,) = squashed(0.2, 0.81, 0.9, 0.9, 0.9, place=place)
    assert (finding.severity, finding.module, finding.line, finding.step) == (Severity.WARNING, "net.1", 5, 1)


@pytest.mark.parametrize("use", [{"is_hidden": False}, {"is_gate": True}])
def test_outputs_and_gates_are_silent(use):
    assert squashed(*[0.95] * 8, **use) == []


@pytest.mark.parametrize(
    "shares",
    [[0.8] * 6, [0.9] * 4, [0.1] * 3 + [0.9] * 3, [0.9] * 5 + [0.7], [math.nan] * 6],
    ids=["at the threshold", "few looks", "half of the looks", "recovered", "unknown"],
)
def test_saturation_must_last_over_most_looks_and_to_the_end(shares):
    assert squashed(*shares) == []


def predicted(
    spread,
    share=math.nan,
    target_spread=1.0,
    target_share=math.nan,
    *,
    steps=60,
    looks=10,
    losses=(1.0, 1.0),
    noise=0.0,
    deviations=(),
    records=None,
):
    run = Run()
    run.texts = {"<cell>": "class Net:\n    def __init__(self):\n        self.norm = LayerNorm(1)\n"}
    for name, values in deviations:
        norm = ActivationRecord(module=name, class_name="LayerNorm", inputs=(), outputs=())
        run.records += [norm] if records is None else records
        for step, value in enumerate(values):
            run.frame("activation_std", (name,)).append(step, (value,))
    for step in range(looks):
        row = dict(zip(METRICS, (spread, share, target_spread, target_share), strict=True))
        for name, value in row.items():
            run.frame(name, ("net/cross_entropy",)).append(step, (value,))
    for step in range(steps):
        loss = losses[0] if step < steps // 2 else losses[step >= steps * 3 // 4]
        run.frame("loss", ("",)).append(step, (loss + noise * (-1) ** step,))
    run.steps = steps
    return list(uniform_prediction(run))


def test_predictions_that_hardly_differ_are_a_warning():
    (finding,) = predicted(5e-4)
    assert (finding.severity, finding.module) == (Severity.WARNING, "net")


@pytest.mark.parametrize(
    "facts",
    [
        {"spread": 2e-3},
        {"spread": 5e-4, "steps": 19},
        {"spread": 5e-4, "looks": 4},
        {"spread": 5e-4, "target_spread": 0.01},
        {"spread": 5e-4, "share": 1.0, "target_share": 0.96},
        {"spread": 5e-4, "losses": (1.0, 0.5)},
    ],
    ids=["differ", "few steps", "few looks", "targets alike", "one class of targets", "still learning"],
)
def test_predictions_are_left_alone(facts):
    assert predicted(**facts) == []


def test_a_fall_within_the_noise_of_the_batches_is_none():
    assert predicted(0.0, losses=(1.0, 0.93)) == []
    assert len(predicted(0.0, losses=(1.0, 0.93), noise=0.1)) == 1
    assert predicted(0.0, losses=(1.0, 0.5), noise=0.1) == []


def test_the_first_module_that_gives_one_number_is_named_and_its_line():
    looks = [("net.proj", [0.4, 0.3]), ("net.norm", [0.1, 0.0, 0.0]), ("net.act", [0.0, 0.0])]
    (finding,) = predicted(0.0, deviations=looks)
    assert (finding.module, finding.source) == ("net.norm", "self.norm = LayerNorm(1)")
    assert "net.norm" in finding.title


def test_a_layer_of_one_unit_gives_one_number_to_samples_that_were_alike_before():
    facts = TensorFacts(shape=(32, 1), dtype="float32", device="cpu")
    record = ActivationRecord(module="net.head", class_name="Linear", inputs=(), outputs=(facts,))
    (finding,) = predicted(0.0, deviations=[("net.head", [0.0, 0.0])], records=[record])
    assert finding.module == "net"


@pytest.mark.parametrize("values", [[0.0, 0.3], [0.0], [math.nan, math.nan], []])
def test_a_module_that_did_not_at_its_last_looks_is_not(values):
    (finding,) = predicted(0.0, deviations=[("net.norm", values), ("other.act", [0.0, 0.0])])
    assert (finding.module, finding.source) == ("net", None)


def test_one_class_for_all_counts_where_the_predictions_hardly_differ():
    (finding,) = predicted(0.01, 1.0, 1.0, 0.4)
    assert finding.confidence == 0.7
    assert predicted(0.03, 1.0, 1.0, 0.4) == []
    assert predicted(0.01, 0.99, 1.0, 0.4) == []
    assert predicted(0.01, 1.0, 1.0, 0.4, steps=39) == []
    assert predicted(0.01, 1.0, 1.0, 0.96) == []


def first_spreads(*spreads, step=0):
    run = Run()
    for place, spread in enumerate(spreads):
        name = f"net.{2 * place}"
        run.records.append(ActivationRecord(module=name, class_name="Linear", inputs=(), outputs=()))
        run.frame("activation_std", (name,)).append(step, (spread,))
    return list(poor_init_scale(run))


def test_outputs_that_grow_or_shrink_ten_thousand_times_are_noted():
    (grown,) = first_spreads(1.0, 150.0, 2e4)
    assert (grown.severity, grown.module) == (Severity.INFO, "net.4")
    (shrunk,) = first_spreads(1.0, 1e-3, 5e-5)
    assert (shrunk.severity, shrunk.module) == (Severity.INFO, "net.4")


@pytest.mark.parametrize("spreads", [(1.0, 10.0, 9e3), (1.0, 1e5), (1.0, 0.0, 0.0), (1.0, math.nan, math.inf)])
def test_other_spreads_are_left_alone(spreads):
    assert first_spreads(*spreads) == []


def test_a_later_step_says_nothing_of_the_initialisation():
    assert first_spreads(1.0, 150.0, 2e4, step=3) == []


def in_double(*, weights="float64", batch="float64", optimizer="SGD", source="", modes=None, steps=5, **others):
    run, held = Run(source=source), others.get("optimizer_holds", ("net.w",))
    run.steps = steps
    run.records += [
        ParameterRecord(
            name="net.w", model="net", module="net", shape=(2,), dtype=weights, device="cpu", trainable=True
        ),
        OptimizerRecord(name="opt", class_name=optimizer, lr=(0.1,), parameters=held),
        BatchRecord(
            source=others.get("batch_source", Source.MODEL), name=others.get("batch_of", "net"), field="0", step=0,
            shape=(4, 2), dtype=batch, layout="contiguous",
            device="cpu", low=0.0, high=1.0, mean=0.5, std=0.1,
        ),
    ]  # fmt: skip
    if modes:
        run.records.append(GlobalModesRecord(changed={modes: "torch.float64"}, kept=()))
    return list(dtype_float64(run))


def test_weights_and_batches_in_double_are_a_note():
    (finding,) = in_double(source="net = Net()\nnet.double()")
    assert (finding.severity, finding.line) == (Severity.INFO, 2)


@pytest.mark.parametrize(
    "facts",
    [
        {"weights": "float32"},
        {"batch": "float32"},
        {"batch": "int64"},
        {"optimizer": "LBFGS"},
        {"source": "torch.set_default_dtype(torch.float64)"},
        {"modes": "torch.set_default_dtype"},
        {"source": "g = torch.autograd.grad(u, x, create_graph=True)"},
        {"steps": 2},
    ],
    ids=str,
)
def test_double_by_intent_is_silent(facts):
    assert in_double(**facts) == []


def test_layers_that_are_not_affine_and_other_models_are_no_measure():
    run = Run()
    for name, kind, spread in (("net.0", "Linear", 1.0), ("net.1", "ReLU", 2e4), ("net.2", "Linear", 1.0),
                               ("net.3", "Linear", 1.0), ("big.0", "Linear", 1e6)):  # fmt: skip
        run.records.append(ActivationRecord(module=name, class_name=kind, inputs=(), outputs=()))
        run.frame("activation_std", (name,)).append(0, (spread,))
    assert not list(poor_init_scale(run))


def test_only_what_trains_and_what_its_own_model_is_given_tells_of_double():
    assert in_double(optimizer_holds=()) == []
    assert in_double(batch_of="other") == []
    assert in_double(batch_source=Source.LOADER) == []


def test_where_there_are_no_classes_none_is_the_most_frequent():
    (finding,) = predicted(1e-5)
    assert not [name for name in finding.evidence if name.startswith("most frequent")]
