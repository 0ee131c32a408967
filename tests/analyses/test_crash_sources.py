"""What an exception complains about is known by its words, and its line by the source."""

import pytest

from torchmagic.analyses.building_lines import line_building
from torchmagic.analyses.carried_names import carried, carried_state, growth, makings, reads_before
from torchmagic.analyses.crash_kinds import kind_of
from torchmagic.analyses.inplace_lines import changes
from torchmagic.analyses.made_by import makes
from torchmagic.analyses.switched_off import switches
from torchmagic.records.crash import CrashKind

SAID = {
    "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same": CrashKind.DEVICE,
    "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same": CrashKind.DTYPE,
    "Input type (torch.DoubleTensor) and weight type (torch.FloatTensor) should be the same": CrashKind.DTYPE,
    "Input type (c10::BFloat16) and bias type (float) should be the same": CrashKind.DTYPE,
    "index_add_(): self (Float) and source (BFloat16) must have the same scalar type": CrashKind.DTYPE,
    "kl_div: Integral inputs not supported.": CrashKind.DTYPE,
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!": CrashKind.DEVICE,
    "indices should be either on cpu or on the same device as the indexed tensor (cpu)": CrashKind.DEVICE,
    "Expected object of device type cuda but got device type cpu for argument #1 'self'": CrashKind.DEVICE,
    "Expected object of scalar type Float but got scalar type Double for argument #2": CrashKind.DTYPE,
    "tensors used as indices must be long, int, byte or bool tensors": CrashKind.DTYPE,
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79 GiB": CrashKind.MEMORY,
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 400 bytes.": CrashKind.MEMORY,
    "Tensors must have same number of dimensions: got 4 and 3": CrashKind.SHAPE,
    "both arguments to matmul need to be at least 1D, but they are 0D and 2D": CrashKind.SHAPE,
    "Target 3 is out of bounds.": CrashKind.LABEL,
    "index 9 is out of bounds for dimension 0 with size 4": CrashKind.INDEX,
    "Expected more than 1 value per channel when training, got input size [1, 8]": CrashKind.SINGLE,
    "Expected !nested_tensorlist[0].empty() to be true, but got false.": CrashKind.NO_GRADIENTS,
    "list index out of range": None,
    "batch_size should be a positive integer value, but got batch_size=0": None,
    "num_samples should be a positive integer value, but got num_samples=0": None,
    "optimizer got an empty parameter list": CrashKind.MISUSE,
    "'NoneType' object has no attribute 'shape'": None,
    'Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "fc.weight".': CrashKind.MISUSE,
}


@pytest.mark.parametrize(("message", "kind"), SAID.items())
def test_torchs_words_tell_the_kind(message, kind):
    assert kind_of(message) is kind


def test_unpacking_counts_only_where_sizes_are_unpacked():
    assert kind_of("not enough values to unpack (expected 4, got 3)", line="b, c, h, w = x.shape") is CrashKind.SHAPE
    assert kind_of("not enough values to unpack (expected 2, got 1)", line="a, b = text.split()") is None


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("x += 1", "x"),
        ("x[0] = 1", "x"),
        ("x.view(-1).add_(1)", "x"),
        ("self.h.mul_(2)", "h"),
        ("F.relu(x, inplace=True)", "x"),
        ("torch.relu_(x)", "x"),
        ("nn.init.zeros_(self.w)", "w"),
        ("torch.add(a, b, out=x)", "x"),
        ("self.act(x)", "x"),
    ],
)
def test_every_spelling_of_a_change_in_place_is_found(statement, target):
    found = changes(f"x = torch.sigmoid(y)\n{statement}\n", scopes=[(1, "<module>")], inplace=frozenset({"act"}))
    assert [(change.line, change.target) for change in found] == [(2, target)]


@pytest.mark.parametrize("statement", ["x = x + 1", "x.requires_grad_()", "x.detach_()", "x.__len__()", "f(x)"])
def test_what_changes_nothing_is_no_change(statement):
    assert changes(statement, scopes=[(1, "<module>")]) == []


def test_the_functions_that_did_not_run_are_left_out():
    source = "def ran(x):\n    x += 1\n\n\ndef idle(x):\n    x += 2\n"
    assert [change.line for change in changes(source, scopes=[(1, "ran")])] == [2]


@pytest.mark.parametrize(
    ("maker", "node", "fits"),
    [
        ("sigmoid", "SigmoidBackward0", True),
        ("Linear", "AddmmBackward0", True),
        ("log_softmax", "LogSoftmaxBackward0", True),
        ("relu", "SigmoidBackward0", False),
    ],
)
def test_nodes_are_known_by_what_makes_them(maker, node, fits):
    assert makes(maker, node) is fits


LOOP = (
    "h = None\nseen = []\nfor x in data:\n    y, h = net(x, h)\n    seen.append(y)\n    z = y * 2\n    z.backward()\n"
)


def test_a_loop_carries_what_it_reads_before_it_makes_it():
    assert carried(LOOP, 7) == {"h": 4}
    assert growth(LOOP, "seen", 7) == 5
    assert [making.in_loop for making in makings(LOOP, "h", 7)] == [False, True]


def test_an_attribute_is_kept_where_it_is_read_before_it_is_made():
    source = "def step(self, x):\n    h = self.cell(x, self.h)\n    self.h = h\n    self.out = h\n    print(self.out)\n"
    assert reads_before(source, "self.h", 3)
    assert not reads_before(source, "self.out", 4)


def test_the_line_that_builds_a_module_is_found_in_a_container_too():
    source = "net = nn.Sequential(\n    nn.Linear(1, 2),\n    nn.Tanh(),\n)\nself.fc = nn.Linear(2, 3)\n"
    assert line_building(source, ["net", "1"]) == 3
    assert line_building(source, ["model", "fc"]) == 5
    assert line_building(source, ["model", "other"]) == 0


@pytest.mark.parametrize(
    ("source", "line", "how"),
    [
        ("with torch.no_grad():\n    y = net(x)\n", 2, "torch.no_grad()"),
        ("torch.set_grad_enabled(False)\ny = net(x)\n", 2, "torch.set_grad_enabled(False)"),
        ("@torch.inference_mode()\ndef f(x):\n    return net(x)\n", 3, "@torch.inference_mode()"),
        ("with torch.set_grad_enabled(True):\n    y = net(x)\n", 2, None),
        ("with open(f) as g:\n    y = net(x)\n", 2, None),
    ],
)
def test_what_switches_gradients_off_is_found(source, line, how):
    found = switches(source, line)
    assert (found.how if found is not None else None) == how


def test_cells_with_magics_are_read():
    assert carried("%matplotlib inline\n!ls\n" + LOOP, 9) == {"h": 6}


@pytest.mark.parametrize(
    ("update", "state"),
    [
        ("y, h = rnn(x, h)", "h"),
        ("y, self.h = self.rnn(x, hx=self.h)", "self.h"),
        ("y, h = rnn(x, h.detach())", ""),
        ("h = h.detach(); y, h = rnn(x, h)", ""),
        ("y, h = rnn(x)", ""),
        ("count = count + 1", ""),
    ],
)
def test_a_state_is_what_a_call_takes_and_gives_anew(update, state):
    assert carried_state(f"for x in xs:\n    {update}\n    y.mean().backward()\n", 3) == state
