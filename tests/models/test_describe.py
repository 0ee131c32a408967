"""What is told of a model: counts, shapes, operations, what autograd keeps, what is never used, where it failed."""

import contextlib
import dataclasses
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from torchmagic.debuggers.modelinfo import modelinfo
from torchmagic.models.describe import describe_model
from torchmagic.records.modelinfo import Held


def part(record, path):
    return next(each for each in record.modules if each.path == path)


def kinds(record):
    return {each.kind: each for each in record.concerns}


def kept_by_autograd(model, *inputs):
    """What a plain forward saves, each storage once, while all of them live."""
    outside = {each.untyped_storage().data_ptr() for each in (*model.parameters(), *model.buffers(), *inputs)}
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda each: saved.append(each) or each, lambda each: each):
        output = model(*inputs)
    sizes = {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in saved}
    del output
    return sum(size for pointer, size in sizes.items() if pointer not in outside)


def test_counts_are_those_of_torch(kept):
    model, batch = kept
    if any(map(torch.nn.parameter.is_lazy, model.parameters())):
        pytest.skip("has no counts before an input")
    record = modelinfo(model, batch=batch).record
    assert record.num_parameters == sum(each.numel() for each in model.parameters())
    assert record.num_trainable == sum(each.numel() for each in model.parameters() if each.requires_grad)
    if not any(each.held == "packed" for each in record.tensors):
        tensors = [*model.parameters(), *model.buffers()]
        assert record.num_bytes == sum(each.numel() * each.element_size() for each in tensors)


def test_operations_are_those_that_torchs_own_counter_finds(convolutional):
    x = torch.rand(2, 3, 8, 8)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        convolutional(x)
    record = modelinfo(convolutional, batch=x).record
    assert record.forward.flops == counter.get_total_flops()
    by_module = {path.partition(".")[2]: sum(each.values()) for path, each in counter.get_flop_counts().items()}
    for path in ("stem", "blocks", "blocks.1.conv", "head"):
        assert part(record, path).flops == by_module[path]


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.integers(1, 4), st.booleans())
def test_a_chain_of_any_widths_is_told_right(widths, batch, bias):
    layers = [nn.Linear(one, other, bias=bias) for one, other in pairwise(widths)]
    record = modelinfo(nn.Sequential(*layers), input_size=(batch, widths[0])).record
    products = [one * other for one, other in pairwise(widths)]
    assert record.num_parameters == sum(products) + bias * sum(widths[1:])
    assert record.forward.flops == 2 * batch * sum(products)
    assert [each.output for each in record.modules[1:]] == [f"{batch}×{width}" for width in widths[1:]]


def test_what_autograd_keeps_is_what_it_keeps(convolutional):
    x = torch.rand(4, 3, 12, 12)
    assert modelinfo(convolutional, batch=x).record.forward.saved_bytes == kept_by_autograd(convolutional, x)


def test_recurrent_operations_are_counted_where_torchs_table_has_none():
    record = modelinfo(nn.LSTM(4, 5, num_layers=2), input_size=(7, 2, 4)).record
    assert record.forward.flops == 2 * 7 * 2 * (4 * 5 * (4 + 5) + 4 * 5 * (5 + 5))


def test_shapes_times_and_calls_of_each_module_are_told(convolutional):
    record = modelinfo(convolutional, input_size=(2, 3, 8, 8)).record
    stem = part(record, "stem")
    assert (stem.inputs, stem.output, stem.calls, stem.is_used) == ("2×3×8×8", "2×8×6×6", 1, True)
    root = record.modules[0]
    assert 0 < stem.seconds < root.seconds <= record.forward.seconds
    assert sum(part(record, path).seconds for path in ("stem", "blocks", "drop", "head")) <= root.seconds


def test_a_layer_called_again_counts_each_time(residual):
    layer = nn.Linear(3, 3)
    record = modelinfo(nn.Sequential(layer, layer, layer), input_size=(2, 3)).record
    assert part(record, "0").calls == 3
    assert record.forward.flops == 3 * 2 * 2 * 9
    assert [each.shared_with for each in record.modules] == ["", "", "0", "0"]
    assert kinds(record)["shared-module"].names == ("0", "1", "2")


def test_what_is_never_used_is_named_and_what_is_read_directly_is_not():
    class Reads(nn.Module):
        def __init__(self):
            super().__init__()
            self.read, self.spare = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())

        def forward(self, x):
            return nn.functional.linear(x, self.read.weight)

    record = modelinfo(Reads(), input_size=(2, 3)).record
    assert kinds(record)["unused"].names == ("spare",)
    assert part(record, "read").calls == 0
    assert part(record, "read").is_used


def test_attention_whose_output_layer_is_read_by_a_kernel_is_used():
    layer = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    record = modelinfo(layer, input_size=[(2, 5, 8)] * 3).record
    assert "unused" not in kinds(record)


def test_a_failure_names_module_shapes_and_words_and_the_rest_is_still_told():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Sequential(nn.ReLU(), nn.Linear(7, 2)))
    info = modelinfo(model, input_size=(1, 3, 8, 8), name="net")
    forward = info.record.forward
    assert (forward.failed_in, forward.failed_class, forward.failed_inputs) == ("1.1", "Linear", "1×4×6×6")
    assert forward.error.startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert "Its forward raised in 1.1 (Linear), which was given 1×4×6×6: RuntimeError" in " ".join(str(info).split())
    assert info.record.num_parameters == sum(each.numel() for each in model.parameters())


def test_an_error_that_the_model_catches_is_its_own_business():
    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.wrong, self.right = nn.Linear(9, 1), nn.Linear(3, 1)

        def forward(self, x):
            try:
                return self.wrong(x)
            except RuntimeError:
                return self.right(x)

    record = modelinfo(Tries(), input_size=(2, 3)).record
    assert record.forward.error == ""
    assert part(record, "right").output == "2×1"
    assert part(record, "wrong").flops == 0
    assert record.forward.flops == part(record, "right").flops == 2 * 2 * 3


def test_a_mode_in_which_it_cannot_run_is_said_and_the_other_one_is_tried():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    record = modelinfo(model, input_size=(1, 3)).record
    assert record.forward.mode == "evaluation"
    assert "in training mode its forward raises ValueError: Expected more than 1 value per channel" in record.notes[0]
    assert model.training


def test_an_error_that_is_caught_hides_none_that_comes_later():
    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(9, 1), nn.Sequential(nn.Linear(8, 1))

        def forward(self, x):
            with contextlib.suppress(RuntimeError):
                self.first(x)
            return self.second(x)

    forward = modelinfo(Tries(), input_size=(2, 3)).record.forward
    assert (forward.failed_in, forward.failed_inputs) == ("second.0", "2×3")


@pytest.mark.parametrize(
    ("make", "batch"),
    [
        (
            lambda: nn.Linear(4, 4),
            torch.nested.nested_tensor([torch.rand(2, 4), torch.rand(3, 4)], layout=torch.jagged),
        ),
        (lambda: nn.LSTM(4, 3), nn.utils.rnn.pack_sequence([torch.rand(3, 4), torch.rand(2, 4)])),
        (lambda: nn.Linear(4, 4, dtype=torch.complex64), torch.rand(2, 4).to(torch.complex64)),
        (lambda: nn.Linear(4, 4), torch.rand(2, 4).to_sparse()),
    ],
    ids=["nested", "packed", "complex", "sparse"],
)
def test_inputs_of_other_kinds_work(make, batch):
    assert modelinfo(make(), batch=batch).record.forward.error == ""


def test_weights_made_in_inference_mode_can_be_looked_at():
    with torch.inference_mode():
        model = nn.Linear(4, 4)
    forward = modelinfo(model, input_size=(2, 4)).record.forward
    assert (forward.error, forward.output) == ("", "2×4")


def test_lazy_parameters_stay_so_and_their_sizes_are_told_from_a_copy():
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d())
    without = modelinfo(model).record
    assert kinds(without)["lazy"].names[0] == "0.weight"
    with_input = modelinfo(model, input_size=(5, 3)).record
    assert with_input.num_parameters == 3 * 4 + 4 + 4 + 4
    assert type(model[0]) is nn.LazyLinear
    assert model[0].has_uninitialized_params()
    assert len(model[0]._forward_pre_hooks) == 1
    model(torch.rand(5, 3))
    assert type(model[0]) is nn.Linear


def test_values_that_are_wrong_are_found():
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(4)])
    with torch.no_grad():
        model[1].weight[0, 0], model[1].weight[1, 2] = float("nan"), float("inf")
        model[2].weight.zero_()
        model[3].bias.zero_()
    found = kinds(modelinfo(model).record)
    assert found["non-finite"].names == ("1.weight",)
    assert found["non-finite"].text == "2 of 16 values are NaN or infinite"
    assert found["all-zero"].names == ("2.weight",)


def test_an_odd_dtype_beside_siblings_is_found():
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(4)])
    model[3].double()
    assert kinds(modelinfo(model).record)["odd-dtype"].names == ("3.weight", "3.bias")
    assert "odd-dtype" not in kinds(modelinfo(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4).double())).record)


def test_a_parameter_left_on_the_meta_device_is_found():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4, device="meta"))
    assert kinds(modelinfo(model).record)["on-meta"].names == ("1.weight", "1.bias")
    assert "on-meta" not in kinds(modelinfo(nn.Linear(2, 2, device="meta")).record)


def test_tied_weights_are_known_and_separate_owners_of_one_memory_are_wrong():
    tied = nn.ModuleDict({"one": nn.Linear(3, 3), "other": nn.Linear(3, 3)})
    tied["other"].weight = tied["one"].weight
    found = kinds(modelinfo(tied).record)
    assert found["shared-tensor"].names == ("one.weight", "other.weight")
    assert not found["shared-tensor"].is_wrong
    tied["other"].weight = nn.Parameter(tied["one"].weight.data)
    found = kinds(modelinfo(tied).record)
    assert found["shared-memory"].names == ("one.weight", "other.weight")
    assert found["shared-memory"].is_wrong


def test_windows_into_one_block_that_do_not_touch_are_no_concern():
    block, model = torch.rand(8), nn.Module()
    model.first, model.second = nn.Parameter(block[:4]), nn.Parameter(block[4:])
    assert "shared-memory" not in kinds(modelinfo(model).record)


def test_modules_in_a_plain_list_are_found():
    model = nn.Sequential(nn.Linear(2, 2))
    model.hidden = [nn.Linear(2, 2)]
    assert kinds(modelinfo(model).record)["unregistered"].names == ("hidden",)


def test_modules_in_another_mode_are_told():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(), nn.Linear(2, 2)))
    model[1].eval()
    assert kinds(modelinfo(model).record)["mixed-mode"].names == ("1",)


def test_a_parametrization_is_not_computed_without_an_input():
    class Count(nn.Module):
        calls = 0

        def forward(self, x):
            Count.calls += 1
            return x

    layer = nn.Linear(2, 2)
    nn.utils.parametrize.register_parametrization(layer, "weight", Count())
    before = Count.calls
    record = modelinfo(layer).record
    assert Count.calls == before
    assert [each.name for each in record.tensors] == ["bias", "parametrizations.weight.original"]


def test_a_model_in_data_parallelism_is_looked_at_inside():
    record = modelinfo(nn.DataParallel(nn.Sequential(nn.Linear(3, 2))), input_size=(1, 3)).record
    assert record.class_name == "Sequential"
    assert record.notes == ("inside DataParallel: the model inside was looked at, on its own device",)


def test_quantised_weights_are_counted_as_packed():
    import warnings  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3)), {nn.Linear})
    record = modelinfo(model, input_size=(2, 4)).record
    packed = [each for each in record.tensors if each.held == "packed"]
    assert [(each.name, each.dtype, each.num_bytes) for each in packed] == [
        ("0.weight", "qint8", 12),
        ("0.bias", "float32", 12),
    ]
    assert record.forward.output == "2×3"
    assert any("are not counted" in note for note in record.notes)


def test_the_record_holds_no_tensor_and_no_module(convolutional):
    def leaves(value):
        if dataclasses.is_dataclass(value):
            for each in dataclasses.fields(value):
                yield from leaves(getattr(value, each.name))
        elif isinstance(value, tuple):
            for each in value:
                yield from leaves(each)
        else:
            yield value

    info = modelinfo(convolutional, input_size=(2, 3, 8, 8))
    assert {type(each) for each in leaves(info.record)} <= {str, int, float, bool, type(None), Held}


def test_several_models_are_a_pipeline_whose_shared_weights_count_once():
    text, image = nn.Embedding(10, 4), nn.Conv2d(3, 3, 3)
    pipe = SimpleNamespace(text=text, image=image, twin=nn.Sequential(text), steps=20, scheduler=object())
    record = modelinfo(pipe).record
    assert [(each.name, each.num_parameters) for each in record.components] == [
        ("text", 40),
        ("image", 84),
        ("twin", 40),
    ]
    assert record.num_parameters == 124
    assert record.others == (("scheduler", "object"),)
    listed = describe_model([text, image])
    assert [each.name for each in listed.components] == ["[0]", "[1]"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "int came; name the variable that holds the model"),
        (nn.Linear, "the class torch.nn.modules.linear.Linear came; make one: Linear(...)"),
        (torch.ones(2), "torch.Tensor came; %tensorinfo tells about tensors"),
        ({"a": torch.ones(1)}, "a dict of tensors came; load it into its model with model.load_state_dict(...) first"),
        (len, "builtin_function_or_method came; pass the model that it returns or belongs to"),
        ([], "list came; name the variable that holds the model"),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(value, words):
    with pytest.raises(TypeError) as error:
        modelinfo(value)
    assert str(error.value).endswith(words)
    assert "\n" not in str(error.value)
