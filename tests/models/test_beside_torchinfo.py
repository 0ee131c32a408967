"""What torchinfo tells of a model is told here too, with the same numbers where they mean the same."""

import pytest
import torch
from torch import nn

from torchmagic.debuggers.modelinfo import modelinfo

torchinfo = pytest.importorskip("torchinfo")
MEGABYTE = 1e6


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.drop = nn.Dropout2d(0.3)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = torch.relu(torch.max_pool2d(self.conv1(x), 2))
        x = torch.relu(torch.max_pool2d(self.drop(self.conv2(x)), 2))
        return torch.log_softmax(self.fc2(torch.relu(self.fc1(x.flatten(1)))), dim=1)


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 4), nn.Linear(8, 4)

    def forward(self, a, b):
        return torch.cat([self.left(a), self.right(b)], dim=1)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 3)

    def forward(self, x, *, scale):
        return self.layer(x) * scale.sum()


class Again(nn.Module):
    """Calls one layer several times."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        for _ in range(4):
            x = self.layer(x)
        return x


class Bare(nn.Module):
    """Has parameters of its own, beside those of a layer."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(7)), nn.Parameter(torch.zeros(7), requires_grad=False)
        self.layer = nn.Linear(7, 7, bias=False)

    def forward(self, x):
        return self.layer(x * self.scale + self.shift)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 30)
        self.rnn = nn.LSTM(30, 12, num_layers=2, batch_first=True)
        self.head = nn.Linear(12, 20)

    def forward(self, tokens):
        out, _ = self.rnn(self.embedding(tokens))
        return self.head(out)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"conv": nn.Conv2d(3, 4, 3, bias=False), "act": nn.PReLU()})
        self.kept = nn.ModuleList([nn.Conv2d(4, 4, 1, bias=False) for _ in range(3)])

    def forward(self, x):
        x = self.parts["act"](self.parts["conv"](x))
        for part in self.kept:
            x = part(x)
        return {"out": x}


def frozen():
    model = Digits()
    model.conv1.requires_grad_(requires_grad=False)
    return model


def autoencoder():
    down = [nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*down, nn.ConvTranspose2d(8, 3, 4, stride=4, bias=False))


def residual():
    def block():
        return nn.Sequential(nn.Conv2d(6, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU())

    return nn.Sequential(nn.Conv2d(3, 6, 3, bias=False), *[block() for _ in range(4)], nn.Flatten(), nn.Linear(216, 4))


# Name: model, input sizes, dtype of all, whether torchinfo means by a multiply-add what is meant here: it counts the
# biases, and of layers that look up or normalise it counts the weights.
MODELS = {
    "a network for digits": (Digits, [(4, 1, 28, 28)], None, False),
    "two inputs": (TwoInputs, [(2, 6), (2, 8)], None, False),
    "one layer called again": (Again, [(3, 16)], None, True),
    "own parameters": (Bare, [(3, 7)], None, True),
    "a recurrent network": (Words, [(2, 9)], torch.int64, False),
    "modules in a dictionary and a list": (Nested, [(1, 3, 8, 8)], None, False),
    "partly frozen": (frozen, [(4, 1, 28, 28)], None, False),
    "an autoencoder": (autoencoder, [(1, 3, 32, 32)], None, False),
    "blocks in a row": (residual, [(2, 3, 8, 8)], None, False),
    "convolutions alone": (
        lambda: nn.Sequential(nn.Conv2d(3, 5, 3, bias=False), nn.ReLU()),
        [(2, 3, 9, 9)],
        None,
        True,
    ),
    "one dimension": (lambda: nn.Conv1d(2, 3, 5, stride=2, bias=False), [(2, 2, 31)], None, True),
    "three dimensions": (lambda: nn.Conv3d(1, 2, 3, bias=False), [(1, 1, 6, 7, 8)], None, True),
    "grouped": (lambda: nn.Conv2d(4, 8, 3, groups=4, bias=False), [(2, 4, 9, 9)], None, True),
    "double precision": (lambda: nn.Linear(8, 4, bias=False).double(), [(2, 8)], torch.float64, True),
    "no parameters": (nn.ReLU, [(2, 8)], None, True),
}


@pytest.fixture(params=MODELS, ids=lambda name: name.replace(" ", "-"))
def both(request):
    make, sizes, dtype, same_operations = MODELS[request.param]
    torch.manual_seed(0)
    model = make()
    dtypes = [dtype] * len(sizes) if dtype else None
    ours = modelinfo(model, input_size=sizes, dtypes=dtypes).record
    theirs = torchinfo.summary(model, input_size=sizes, dtypes=dtypes, verbose=0, depth=9)
    return ours, theirs, same_operations


def test_parameters_are_counted_alike(both):
    ours, theirs, _ = both
    assert ours.num_parameters == theirs.total_params
    assert ours.num_trainable == theirs.trainable_params


def test_every_layer_gave_the_shape_that_torchinfo_saw(both):
    ours, theirs, _ = both
    told = {
        part.path: part.output
        for part in ours.modules
        if part.calls and not part.shared_with and not part.output.count(",") and " " not in part.output
    }
    seen = {}
    for layer in theirs.summary_list:
        path, above = [layer.var_name], layer.parent_info
        while above is not None:
            path.append(above.var_name)
            above = above.parent_info
        seen.setdefault(".".join(reversed(path[:-1])), "×".join(map(str, layer.output_size)))
    compared = [path for path in told if seen.get(path)]
    assert compared
    assert {path: told[path] for path in compared} == {path: seen[path] for path in compared}


def test_input_and_parameters_have_the_same_size(both):
    ours, theirs, _ = both
    held = sum(each.num_bytes for each in ours.tensors if each.held == "parameter")
    # torchinfo adds the bytes of the Python objects around the inputs.
    assert ours.forward.input_bytes / MEGABYTE == pytest.approx(theirs.total_input / MEGABYTE, abs=0.0002)
    # torchinfo forgets the bytes of parameters that a module with children has of its own.
    assert theirs.total_param_bytes <= held
    if not any(part.has_own and part.path == "" and len(ours.modules) > 1 for part in ours.modules):
        assert held == theirs.total_param_bytes


def test_multiply_adds_agree_where_they_mean_the_same(both):
    ours, theirs, same = both
    if same:
        assert ours.forward.flops == 2 * theirs.total_mult_adds
    else:
        assert ours.forward.flops > 0


def test_names_of_arguments_work_as_with_torchinfo():
    data = {"x": torch.rand(2, 5), "scale": torch.rand(3)}
    ours = modelinfo(Named(), batch=data).record
    theirs = torchinfo.summary(Named(), input_data=data, verbose=0)
    assert ours.num_parameters == theirs.total_params
    assert ours.forward.output == "×".join(map(str, theirs.summary_list[0].output_size))


def test_what_torchinfo_counts_twice_is_counted_once():
    model = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 11, bias=False))
    model[1].weight = model[0].weight
    ours = modelinfo(model, input_size=(2, 3)).record
    assert ours.num_parameters == sum(each.numel() for each in model.parameters()) == 66
    assert torchinfo.summary(model, input_data=torch.zeros(2, 3, dtype=torch.int64), verbose=0).total_params == 132
