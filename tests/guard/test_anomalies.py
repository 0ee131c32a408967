"""What is suspicious about a model's outputs is said in the words of the document."""

import math

import pytest
import torch
from torch import nn

from torchmagic.guard.anomalies import detect_model_anomalies

NAN, INF = "Model output contains NaN values", "Model output contains infinite values"
RANGE, UNIFORM = "Model output outside expected range", "Model predictions are uniform"


class Says(nn.Module):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, _inputs):
        return self.answer


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.1, 0.9, 0.5], []),
        ([0.1, math.nan, 0.5], [NAN]),
        ([0.1, math.inf, 0.5], [INF, RANGE]),
        ([0.1, -0.001, 0.5], [RANGE]),
        ([0.1, 1.001, 0.5], [RANGE]),
        ([0.25, 0.25, 0.25], [UNIFORM]),
        ([7.0, 7.0], [RANGE, UNIFORM]),
        ([math.nan, -math.inf], [NAN, INF, RANGE]),
        ([0.5], []),
    ],
)
def test_each_anomaly_is_named(values, said):
    assert detect_model_anomalies(Says(torch.tensor([values])), torch.ones(1)) == said


def test_range_and_uniformity_can_be_set():
    model = Says(torch.tensor([[-5.0, 5.0]]))
    assert detect_model_anomalies(model, torch.ones(1), expected_range=(-5, 5)) == []
    assert detect_model_anomalies(model, torch.ones(1), expected_range=None) == []
    assert detect_model_anomalies(model, torch.ones(1), expected_range=(0, math.inf)) == [RANGE]
    assert detect_model_anomalies(Says(torch.full((3,), 0.5)), torch.ones(1), uniform_below=None) == []
    with pytest.raises(ValueError, match="expected_range is"):
        detect_model_anomalies(model, torch.ones(1), expected_range=(1, 0))


def test_several_outputs_are_told_apart():
    answer = {
        "logits": torch.tensor([math.nan, 0.5]),
        "more": (torch.tensor([2.0, 0.1]), None),
        "ids": torch.tensor([9]),
    }
    assert detect_model_anomalies(Says(answer), torch.ones(1)) == [
        "Model output logits contains NaN values",
        "Model output more.0 outside expected range",
    ]


def test_a_real_model_with_a_bad_weight():
    model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))
    assert detect_model_anomalies(model, torch.randn(8, 4)) == []
    model[0].weight.data[1, 1] = math.nan
    assert detect_model_anomalies(model, torch.randn(8, 4)) == [NAN]


def test_batches_are_taken_as_the_model_takes_them():
    model = nn.Bilinear(2, 3, 1)
    pair = torch.randn(5, 2), torch.randn(5, 3)
    assert detect_model_anomalies(model, pair, expected_range=None) == []
    assert detect_model_anomalies(model, {"input1": pair[0], "input2": pair[1]}, expected_range=None) == []


def test_the_mode_can_be_chosen():
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Sigmoid())
    same = torch.full((4, 3), 5.0)
    assert detect_model_anomalies(model, same) == [UNIFORM]
    assert detect_model_anomalies(
        nn.Sequential(nn.Dropout(0.5), nn.Hardsigmoid()), torch.ones(100, 3), training=False
    ) == [UNIFORM]
    assert model.training


def test_what_the_model_raises_is_raised():
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        detect_model_anomalies(nn.Linear(4, 2), torch.ones(3, 5))


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="a model was wanted"):
        detect_model_anomalies(torch.ones(3), torch.ones(3))
    with pytest.raises(TypeError, match="one model was wanted, 2 came"):
        detect_model_anomalies([nn.Linear(1, 1), nn.Linear(1, 1)], torch.ones(3))
