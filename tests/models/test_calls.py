"""How a model is called with what a user gave."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from torchmagic.debuggers.modelinfo import modelinfo


class Takes(nn.Module):
    """Takes one input, and more if there are."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x, mask=None):
        return self.layer(x if mask is None else x * mask)


X, MASK = torch.rand(2, 3), torch.ones(2, 3)


@pytest.mark.parametrize(
    ("batch", "call", "inputs"),
    [
        (X, "model(batch)", "2×3"),
        ((X,), "model(*batch)", "2×3"),
        ((X, MASK), "model(*batch)", "2×3, 2×3"),
        ([X, MASK, X], "model(batch[0])", "2×3"),
        ({"x": X}, "model(**batch)", "x 2×3"),
        ({"x": X, "labels": X}, "model(x=…)", "x 2×3"),
        (DataLoader([(X[0], 1), (X[1], 0)], batch_size=2), "model(next(iter(loader))[0])", "2×3"),
        (DataLoader([X[0], X[1]], batch_size=2), "model(next(iter(loader)))", "2×3"),
    ],
)
def test_a_batch_is_given_as_a_training_loop_would(batch, call, inputs):
    forward = modelinfo(Takes(), batch=batch).record.forward
    assert (forward.call, forward.inputs, forward.error) == (call, inputs, "")


def test_sizes_by_name_and_several_sizes_work():
    assert modelinfo(Takes(), input_size={"x": (2, 3), "mask": (2, 3)}).record.forward.inputs == "x 2×3, mask 2×3"
    assert modelinfo(Takes(), input_size=[(2, 3), (2, 3)]).record.forward.inputs == "2×3, 2×3"


def test_an_embedding_gets_whole_numbers_that_it_has():
    forward = modelinfo(nn.Sequential(nn.Embedding(2, 4), nn.Linear(4, 1)), input_size=(3, 50)).record.forward
    assert (forward.call, forward.error) == ("model(int64 [3, 50])", "")


def test_the_made_up_input_has_the_dtype_of_the_parameters():
    assert modelinfo(Takes().bfloat16(), input_size=(2, 3)).record.forward.call == "model(bfloat16 [2, 3])"
    given = modelinfo(nn.Identity(), input_size=(2, 3), dtypes=[torch.complex64]).record.forward
    assert given.call == "model(complex64 [2, 3])"


class Once(IterableDataset):
    def __iter__(self):
        return self

    def __next__(self):
        return torch.rand(3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"input_size": (1, -1)}, "an input size has no negative numbers, (1, -1) came; write the batch size out"),
        ({"input_size": "1,3"}, "an input size was wanted, such as (1, 3, 32, 32), '1,3' came"),
        ({"input_size": (8, 10.5)}, "an input size was wanted, such as (1, 3, 32, 32), (8, 10.5) came"),
        ({"input_size": [(8, 3), (2, "x")]}, "an input size was wanted, such as (1, 3, 32, 32), (2, 'x') came"),
        ({"input_size": (1, 3), "dtypes": "x"}, "one of torch's for each size, such as (torch.float32,), 'x' came"),
        ({"input_size": (1, 3), "dtypes": torch.half}, "such as (torch.float32,), torch.float16 came"),
        ({"input_size": (1, 3), "dtypes": ["half"]}, "such as (torch.float32,), ['half'] came"),
        ({"input_size": (10**6, 10**12)}, "; give a smaller one"),
        ({"input_size": (1, 3), "batch": X}, "an input size and a batch came; give one of them"),
        ({"input_size": (1, 3), "dtypes": []}, "1 input sizes and 0 dtypes came; give one dtype for each size"),
        ({"batch": iter([X])}, "an iterator gives each batch once; pass the batch itself, or the loader"),
        ({"batch": DataLoader(Once())}, "gives each item once; take a batch yourself and pass that"),
        ({"batch": DataLoader([])}, "the loader gives no batch"),
        ({"optimizer": "adamm"}, "no optimizer 'adamm' is known; did you mean adam?"),
        ({"optimizer": 3}, "an optimizer or the name of one was wanted, such as adamw, int came"),
        ({"depth": -1}, "depth is a number of levels, 0 or more, -1 came"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given, words):
    with pytest.raises(ValueError) as error:
        modelinfo(Takes(), **given)
    assert str(error.value).endswith(words)
    assert "\n" not in str(error.value)


def test_a_pipeline_takes_no_input():
    with pytest.raises(ValueError, match=r"several models came and one input; name the model .* such as a"):
        modelinfo({"a": Takes()}, input_size=(1, 3))
