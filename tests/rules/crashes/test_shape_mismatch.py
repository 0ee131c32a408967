"""Shapes that do not fit are explained from what stood on the failing line."""

import pytest

from torchmagic.records.crash import CrashKind, CrashSiteRecord, TensorFact
from torchmagic.records.place import Place
from torchmagic.rules.crashes.shape_mismatch import shape_mismatch
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=4, source="return self.fc(x)", function="forward")


def fact(name, *shape, dtype="float32", device="cpu"):
    return TensorFact(name=name, shape=shape, dtype=dtype, device=device)


def finding(message, **facts):
    run = Run()
    run.records.append(
        CrashSiteRecord(problem=CrashKind.SHAPE, error="RuntimeError", message=message, place=LINE, **facts)
    )
    (found,) = shape_mismatch(run)
    return found


def linear(*given):
    return finding(
        "mat1 and mat2 shapes cannot be multiplied (2x256 and 36x10)",
        module="net.fc",
        class_name="Linear",
        is_torchs=True,
        settings={"in_features": "36", "out_features": "10"},
        weights=(fact("weight", 10, 36),),
        given=(fact("input", *given),),
    )


def test_a_layer_that_was_built_too_narrow_names_both_sizes_and_the_line_that_mends_it():
    found = linear(2, 256)
    assert found.title == "net.fc (Linear) expects 36 features and got 256: its input is (2, 256)"
    assert (found.module, found.line, found.source) == ("net.fc", 4, "return self.fc(x)")
    assert found.fix == "self.fc = nn.Linear(256, 10)"
    assert found.evidence["net.fc.weight"] == "(10, 36) float32 cpu"


def test_an_input_that_was_not_flattened_is_told_from_a_wrong_size():
    assert "flatten(1)" in linear(2, 4, 3, 3).fix


def test_a_table_on_its_side_is_turned():
    assert ".T" in linear(36, 5).fix


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        ((8, 1, 28, 28), "self.conv = nn.Conv2d(1, 16, (3, 3))"),
        ((8, 28, 28, 3), "x = x.permute(0, 3, 1, 2)  # channels second, before net.conv"),
    ],
)
def test_a_convolution_names_its_channels(given, fix):
    found = finding(
        "Given groups=1, weight of size [16, 3, 3, 3], expected input to have 3 channels, but got 1 channels instead",
        module="net.conv",
        class_name="Conv2d",
        is_torchs=True,
        settings={"in_channels": "3", "out_channels": "16", "kernel_size": "(3, 3)"},
        given=(fact("x", *given),),
        tensors=(fact("x", *given),),
    )
    assert found.title.startswith("net.conv (Conv2d) expects 3 channels and got")
    assert found.fix == fix


def test_the_two_sides_of_a_product_are_named():
    found = finding(
        "mat1 and mat2 shapes cannot be multiplied (4x8 and 4x8)",
        expression="q @ k",
        tensors=(fact("q", 4, 8), fact("k", 4, 8)),
    )
    assert found.title == "q (4, 8) cannot be multiplied with k (4, 8)"
    assert found.fix == "q @ k.transpose(-2, -1)"


@pytest.mark.parametrize(
    ("loss", "given", "target", "fix"),
    [
        ("cross_entropy", (6, 3), (6, 1), "y = y.squeeze(-1)"),
        ("cross_entropy", (6, 7, 3), (6, 7), "logits = logits.flatten(0, -2); y = y.flatten()  # classes last"),
        ("cross_entropy", (6, 3), (5,), "logits must have one row a label: 5, not 6"),
        ("binary_cross_entropy", (6, 1), (6,), "logits.squeeze(-1)  # then both are (6,)"),
    ],
)
def test_prediction_and_target_of_a_loss_are_brought_together(loss, given, target, fix):
    facts = (fact("logits", *given), fact("y", *target, dtype="int64"))
    found = finding("size mismatch", operation=loss, operands=facts, tensors=facts)
    assert found.fix == fix


def test_a_view_counts_elements():
    found = finding("shape '[16, 100]' is invalid for input of size 336", tensors=(fact("x", 16, 3, 7),))
    assert found.title == "x (16, 3, 7) with 336 elements does not fit into [16, 100]"


def test_what_nobody_names_is_told_in_torchs_numbers():
    found = finding(
        "The size of tensor a (4) must match the size of tensor b (8) at non-singleton dimension 1",
        expression="x + self.conv(x)",
        tensors=(fact("x", 2, 4, 6, 6),),
    )
    assert found.title == "x + self.conv(x) meets sizes 4 and 8 in dimension 1"


def test_a_checkpoint_of_another_size_names_the_parameter():
    found = finding(
        "Error(s) in loading state_dict for Linear:\n\tsize mismatch for weight: copying a param with shape "
        "torch.Size([1, 5]) from checkpoint, the shape in current model is torch.Size([1, 4]).",
        module="net",
    )
    assert found.title == "the checkpoint's weight is (1, 5), and that of net (1, 4)"


def test_every_message_has_title_why_and_fix_without_any_tensor():
    for message in ("stack expects each tensor to be equal size", "view size is not compatible", "too many indices"):
        found = finding(message)
        assert found.title
        assert found.why
        assert found.fix


def test_a_crash_of_another_kind_is_not_about_shapes():
    run = Run()
    run.records.append(CrashSiteRecord(problem=CrashKind.DTYPE, error="RuntimeError", message="dtype"))
    assert list(shape_mismatch(run)) == []


def test_rows_that_do_not_hold_the_features_are_not_flattened():
    assert linear(5, 4, 3, 3).fix != linear(5, 4, 3, 4).fix
    assert linear(2, 4, 3, 4).fix == "self.fc = nn.Linear(4, 10)"


def test_images_without_channels_are_given_one():
    found = finding(
        "Given groups=1, weight of size [16, 1, 3, 3], expected input to have 1 channels, but got 8 channels instead",
        module="net.conv",
        class_name="Conv2d",
        is_torchs=True,
        settings={"in_channels": "1", "out_channels": "16", "kernel_size": "(3, 3)"},
        given=(fact("x", 8, 28, 28),),
        tensors=(fact("x", 8, 28, 28),),
    )
    assert found.fix.startswith("x = x.unsqueeze(1)")


def test_three_channels_are_not_made_of_none():
    found = finding(
        "Given groups=1, weight of size [16, 3, 3, 3], expected input to have 3 channels, but got 8 channels instead",
        module="net.conv",
        class_name="Conv2d",
        is_torchs=True,
        settings={"in_channels": "3", "out_channels": "16", "kernel_size": "(3, 3)"},
        given=(fact("x", 8, 28, 28),),
    )
    assert "unsqueeze" not in found.fix


def test_a_sum_of_two_tables_is_no_product():
    facts = fact("a", 4, 8), fact("b", 8, 4)
    found = finding("The size of tensor a (8) must match the size of tensor b (4)", tensors=facts)
    assert found.title == "a (4, 8) and b (8, 4) do not fit together"
    assert found.fix == "b.T"
    three = finding("mat1 and mat2 shapes cannot be multiplied (4x8 and 4x8)", tensors=(*facts, fact("c", 2)))
    assert "cannot be multiplied with" not in three.title


def test_tensors_that_differ_in_two_dimensions_are_joined_along_none_of_them():
    says = "Sizes of tensors must match except in dimension 1. Expected size 4 but got size 5 for tensor number 1"
    up, one, two = fact("up", 8, 16, 4, 4), fact("skip", 8, 16, 5, 5), fact("skip", 8, 16, 5, 4)
    found = finding(says, tensors=(up, one))
    assert found.fix.startswith("give up and skip one size in dimensions 2 and 3 first: pad or crop")
    assert finding(says, tensors=(up, two)).fix.startswith("join along the dimension in which they differ")


def test_weights_that_are_not_as_many_as_the_classes_are_told():
    found = finding(
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1",
        operation="binary_cross_entropy_with_logits",
        class_name="BCEWithLogitsLoss",
        weights=(fact("pos_weight", 2),),
        operands=(fact("input", 5, 3), fact("target", 5, 3)),
    )
    assert found.title == "binary_cross_entropy_with_logits got a pos_weight of (2,) for the 3 classes of input"
    assert found.fix.startswith("BCEWithLogitsLoss(pos_weight=torch.ones(3))")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("only one element tensors can be converted to Python scalars", "no regular list of numbers"),
        ("expected sequence of length 2 at dim 1 (got 1)", "no regular list of numbers"),
        ("The shape of the 2D attn_mask is torch.Size([3, 5]), but should be (5, 5).", "a mask of another shape"),
        ("grad can be implicitly created only for scalar outputs", "backward() is called on loss, which is (3,)"),
        ("only batches of spatial targets supported (3D tensors) but got 4", "cross_entropy got out"),
    ],
)
def test_what_is_no_size_of_a_layer_has_its_own_words(message, words):
    module = {"class_name": "MultiheadAttention", "is_torchs": True, "settings": {"embed_dim": "8"}}
    tensors = (fact("loss", 3),)
    spatial = {"operation": "cross_entropy", "operands": (fact("out", 2, 5, 8, 8), fact("target", 2, 1, 8, 8))}
    found = finding(
        message,
        tensors=tensors,
        **(
            spatial
            if "spatial" in message
            else module | {"given": (fact("query", 3, 5, 8),)}
            if "mask" in message
            else {}
        ),
    )
    assert words in found.title
    assert "spatial" not in message or found.fix == "target = target.squeeze(1)"


def test_weights_of_a_loss_are_told_by_its_message_where_the_shapes_differ_anyway():
    facts = {
        "operation": "cross_entropy",
        "class_name": "CrossEntropyLoss",
        "weights": (fact("weight", 2),),
        "operands": (fact("logits", 5, 3), fact("y", 5)),
    }
    told = finding("weight tensor should be defined either for all 3 classes or no classes", **facts)
    assert told.title == "cross_entropy got a weight of (2,) for the 3 classes of logits"
    other = finding("Expected input batch_size (5) to match target batch_size (4).", **facts)
    assert other.title.startswith("cross_entropy got logits")


def test_a_width_that_fits_is_not_said_to_be_another():
    found = finding(
        "query and key must have the same size",
        module="att",
        class_name="MultiheadAttention",
        is_torchs=True,
        settings={"embed_dim": "8"},
        given=(fact("query", 3, 5, 8),),
    )
    assert "got 8" not in found.title
