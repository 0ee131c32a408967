"""Operations that follow by arithmetic, against what is counted from a real profile and by torch's own counter."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, Event
from torchmagic.profiling.flops import is_heavy, operations
from torchmagic.profiling.kineto import Kineto
from torchmagic.profiling.ranges import Note
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.records.costs import CostsRecord
from torchmagic.records.profile import ProfileRecord


def profile(deed):
    """Return the profile and the costs of a call, with operations counted."""
    settings = ProfileSettings(flops=True)
    kineto = Kineto(settings)
    kineto.start()
    with Note("tm:p:other"):
        deed()
    kineto.stop()
    [(begin, end, *_)] = kineto.marks()
    records = attribute(Collected(events=kineto.events(begin, end), begin=begin, end=end, options=settings.options))
    return next(each for each in records if isinstance(each, ProfileRecord)), next(
        each for each in records if isinstance(each, CostsRecord)
    )


def trained(module, *inputs):
    """Return a call that runs a module forward and backward."""

    def run():
        result = module(*inputs)
        (result[0] if isinstance(result, tuple) else result).sum().backward()

    return run


def by_torch(deed):
    with FlopCounterMode(display=False) as counter:
        deed()
    return counter.get_total_flops()


def rows(*shape, grad=False):
    return torch.randn(shape, requires_grad=grad)


CONVOLUTIONS = [
    pytest.param(nn.Conv2d, {}, (2, 4, 9, 7), id="plain"),
    pytest.param(nn.Conv2d, {"stride": 2, "padding": 1}, (2, 4, 9, 7), id="stride and padding"),
    pytest.param(nn.Conv2d, {"dilation": 2, "padding": (2, 1)}, (2, 4, 9, 7), id="dilation"),
    pytest.param(nn.Conv2d, {"padding": "same", "bias": False}, (2, 4, 9, 7), id="same"),
    pytest.param(nn.Conv1d, {"stride": 3}, (2, 4, 20), id="one side"),
    pytest.param(nn.Conv3d, {"padding": 1}, (1, 4, 5, 6, 4), id="three sides"),
    pytest.param(nn.ConvTranspose2d, {"stride": 2, "output_padding": 1}, (2, 4, 5, 4), id="transposed"),
    pytest.param(nn.Conv2d, {}, (4, 9, 7), id="one image"),
]


@pytest.mark.parametrize(("make", "settings", "shape"), CONVOLUTIONS)
@pytest.mark.parametrize("grad", [True, False])
def test_a_convolution_is_counted_as_torch_counts_it(make, settings, shape, grad):
    module, images = make(4, 6, 3, **settings), rows(*shape, grad=grad)
    wanted = by_torch(trained(module, images))
    counted, _ = profile(trained(module, images))
    assert counted.flops == wanted > 0
    assert counted.uncounted == ()


@pytest.mark.parametrize(("groups", "out"), [(2, 6), (4, 8)])
def test_groups_are_counted_exactly_backward_too(groups, out):
    module, images = nn.Conv2d(4, out, 3, groups=groups, padding=1), rows(2, 4, 5, 5, grad=True)
    forward = 2 * 2 * 5 * 5 * out * (4 // groups) * 9
    counted, _ = profile(trained(module, images))
    assert counted.flops == 3 * forward
    assert by_torch(lambda: module(images)) == forward


def test_a_perceptron_is_counted_exactly():
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3, bias=False))
    forward = 2 * 5 * 8 * 16 + 2 * 5 * 16 * 3
    backward = 2 * 5 * 8 * 16 + 2 * (2 * 5 * 16 * 3)  # the input needs no gradient
    counted, costs = profile(trained(module, rows(5, 8)))
    assert counted.flops == forward + backward == by_torch(trained(module, rows(5, 8)))
    assert sum(each.flops for each in costs.operators) == counted.flops
    assert sum(each.flops for each in costs.operators if each.phase == "backward") == backward


PRODUCTS = {
    "rows of a sequence": lambda: nn.Linear(8, 4)(rows(2, 3, 8, grad=True)).sum().backward(),
    "matmul": lambda: (rows(3, 4, 5, grad=True) @ rows(3, 5, 6, grad=True)).sum().backward(),
    "broadcast": lambda: (rows(2, 3, 4, 5, grad=True) @ rows(5, 6, grad=True)).sum().backward(),
    "einsum": lambda: torch.einsum("bij,bjk->bik", rows(2, 3, 4, grad=True), rows(2, 4, 5)).sum().backward(),
    "baddbmm": lambda: torch.baddbmm(rows(2, 3, 5), rows(2, 3, 4, grad=True), rows(2, 4, 5)).sum().backward(),
    "addmm": lambda: torch.addmm(rows(3, 5), rows(3, 4, grad=True), rows(4, 5)).sum().backward(),
    "bfloat16": lambda: functional.linear(rows(4, 8, grad=True).bfloat16(), rows(3, 8).bfloat16()).sum().backward(),
    "batch norm": lambda: nn.BatchNorm2d(4)(rows(2, 4, 3, 3, grad=True)).sum().backward(),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_counted_as_torch_counts_them(name):
    wanted = by_torch(PRODUCTS[name])
    counted, _ = profile(PRODUCTS[name])
    assert counted.flops == wanted
    assert (wanted == 0) == (name == "batch norm")


def test_products_with_vectors_are_counted_exactly():
    counted, _ = profile(lambda: (rows(3, 4) @ rows(4), rows(7) @ rows(7), torch.addmv(rows(3), rows(3, 4), rows(4))))
    assert counted.flops == 2 * 3 * 4 + 2 * 7 + 2 * 3 * 4


@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_counted_whole_whatever_a_mask_leaves_out(causal):
    query, key, value = rows(2, 4, 8, 16, grad=True), rows(2, 4, 6, 16, grad=True), rows(2, 4, 6, 16, grad=True)
    scores = 2 * 4 * 8 * 6

    def attend():
        functional.scaled_dot_product_attention(query, key, value, is_causal=causal).sum().backward()

    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        counted, costs = profile(attend)
    assert counted.flops == 4 * scores * 16 + 10 * scores * 16
    assert any("flash_attention_for_cpu_backward" in each.name and each.flops for each in costs.operators)
    with sdpa_kernel(SDPBackend.MATH):
        plain, _ = profile(attend)
        assert plain.flops == by_torch(attend) == 12 * scores * 16  # it keeps the scores, and need not repeat them


def test_attention_of_a_layer_is_counted_once_though_its_operators_call_each_other():
    module = nn.MultiheadAttention(16, 4, batch_first=True)
    sequence = rows(2, 5, 16, grad=True)
    counted, _ = profile(trained(module, sequence, sequence, sequence))
    with sdpa_kernel(SDPBackend.MATH):
        assert counted.flops in {
            by_torch(trained(module, sequence, sequence, sequence)),
            by_torch(trained(module, sequence, sequence, sequence)) + 2 * 2 * 4 * 5 * 5 * 4,
        }


def test_a_recurrent_layer_is_counted_by_its_matrices():
    module, sequence = nn.LSTM(6, 5), rows(7, 2, 6, grad=True)
    forward = 2 * 7 * 2 * (4 * 5 * 6 + 4 * 5 * 5)
    counted, _ = profile(lambda: module(sequence))
    assert counted.flops == forward


def test_the_inner_operator_shows_what_the_outer_one_was_counted_by():
    _, costs = profile(trained(nn.Conv2d(4, 6, 3), rows(2, 4, 9, 7)))
    counted = {each.name: each.flops for each in costs.operators if each.flops}
    assert "aten::convolution_backward" in counted
    inner = next(each for each in costs.operators if each.phase == "forward" and "conv" in each.name and each.flops)
    assert inner.own > 0.2 * inner.total
    assert counted.get("aten::convolution", 0) == 0


def test_operators_that_nobody_can_count_are_named_where_they_took_long():
    matrix = rows(64, 64) @ rows(64, 64)
    counted, _ = profile(lambda: [torch.linalg.svd(matrix) for _ in range(3)])
    assert any("svd" in name for name in counted.uncounted)


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("aten::_linalg_svd", True),
        ("aten::_fft_r2c", True),
        ("aten::_cudnn_rnn", True),
        ("my_library::attention", True),
        ("CompiledFunction", True),
        ("aten::add", False),
        ("aten::native_batch_norm", False),
        ("autograd::engine::evaluate_function: AddmmBackward0", False),
        ("AddmmBackward0", False),
    ],
)
def test_what_computes_much_is_told_by_its_name(name, heavy):
    assert is_heavy(name) is heavy


@pytest.mark.parametrize("shapes", [[], [[], []], [[3]], [["?", 2], [2, 3]], None])
def test_inputs_that_no_formula_fits_count_nothing(shapes):
    assert not operations(Event(0, 1, "aten::bmm", 1, shapes=shapes, concrete=[]))


def test_operations_are_not_counted_where_shapes_were_not_noted_down():
    records = attribute(Collected(events=[Event(0, 1, "aten::mm", 1)], begin=0, end=10))
    assert records[0].flops is None
    assert records[2].operators[0].flops is None
