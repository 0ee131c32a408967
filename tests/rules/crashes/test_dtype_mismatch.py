"""Dtypes that do not fit are explained from what stood on the failing line."""

import pytest

from torchmagic.records.crash import CrashKind, CrashSiteRecord, TensorFact
from torchmagic.records.place import Place
from torchmagic.rules.crashes.dtype_mismatch import dtype_mismatch
from torchmagic.session.run import Run


def fact(name, dtype, *shape):
    return TensorFact(name=name, shape=shape or (4, 3), dtype=dtype, device="cpu")


def finding(message, **facts):
    run = Run()
    run.records.append(CrashSiteRecord(problem=CrashKind.DTYPE, error="RuntimeError", message=message, **facts))
    (found,) = dtype_mismatch(run)
    return found


@pytest.mark.parametrize(
    ("weights", "given", "fix"),
    [
        ("float32", "float64", "X = X.float()"),
        ("float32", "int64", "X = X.float()"),
        ("float16", "float32", "X = X.to(torch.float16)"),
        ("float64", "float32", "X = X.to(torch.float64)"),
    ],
)
def test_an_input_is_converted_to_the_dtype_of_the_weights(weights, given, fix):
    found = finding(
        "mat1 and mat2 must have the same dtype",
        module="net.0",
        class_name="Linear",
        is_torchs=True,
        weights=(fact("weight", weights),),
        given=(fact("X", given),),
        tensors=(fact("X", given),),
    )
    assert found.title == f"net.0 (Linear) has {weights} weights and got an input of {given}"
    assert found.module == "net.0"
    assert found.fix == fix


def test_class_labels_must_be_whole_numbers():
    found = finding(
        "expected target dtype to be Long or Byte, but got Float",
        operation="cross_entropy",
        operands=(fact("logits", "float32"), fact("y", "float32", 4)),
    )
    assert found.title == "cross_entropy wants class labels as int64 (Long) and got y in float32"
    assert found.fix == "y = y.long()"


def test_indices_of_an_embedding_must_be_whole_numbers():
    found = finding(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int",
        module="emb",
        class_name="Embedding",
        is_torchs=True,
        given=(fact("tokens", "float32"),),
    )
    assert found.fix == "tokens = tokens.long()"


def test_the_target_of_a_binary_loss_becomes_a_float():
    found = finding(
        "Found dtype Long but expected Float",
        operation="binary_cross_entropy",
        operands=(fact("p", "float32"), fact("y", "int64")),
    )
    assert found.fix == "y = y.float()"


def test_a_mean_of_truth_values_becomes_one_of_floats():
    found = finding("mean(): could not infer output dtype. Got: Bool", expression="(a == b).mean()")
    assert found.fix == "(a == b).float().mean()"


def test_two_sides_without_a_module_are_named():
    found = finding("expected m1 and m2 to have the same dtype", tensors=(fact("x", "float32"), fact("W", "float64")))
    assert found.fix == "W = W.float()"


def test_a_batch_in_single_precision_is_not_widened_for_it_without_need():
    for weights, given, cast in (("float16", "float64", ".half()"), ("bfloat16", "int64", ".to(torch.bfloat16)")):
        found = finding(
            "mat1 and mat2 must have the same dtype",
            module="net.0",
            class_name="Linear",
            is_torchs=True,
            weights=(fact("weight", weights),),
            given=(fact("X", given),),
            tensors=(fact("X", given),),
        )
        assert found.fix == f"X = X{cast}"


def test_a_loss_of_one_dtype_is_not_called_mixed():
    found = finding(
        "expected scalar type Float but found Half",
        operation="mse_loss",
        operands=(fact("p", "float16"), fact("y", "float16")),
    )
    assert "prediction and target" not in found.why


def test_indices_of_a_function_are_named_without_a_module():
    found = finding(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int",
        operation="embedding",
        operands=(fact("tokens", "float32"), fact("table", "float32")),
    )
    assert found.fix == "tokens = tokens.long()"


WRITE = "put requires the source and destination dtypes match, got Float for the destination and {} for the source"


def test_a_write_in_another_dtype_is_converted_and_its_mask_is_left_alone():
    found = finding(
        WRITE.format("BFloat16"),
        place=Place(file="<cell>", line=3, source="out[chosen] = expert(x[chosen])"),
        expression="out[chosen]",
        module="net.0",
        class_name="MoE",
        given=(fact("x", "float32"),),
        tensors=(fact("out", "float32"), fact("chosen", "bool", 4)),
    )
    assert found.title == "out is float32, and what is written into it is bfloat16"
    assert found.fix == "out[chosen] = expert(x[chosen]).to(out.dtype)"


def test_what_is_of_none_of_the_dtypes_that_torch_names_is_not_accused():
    found = finding(
        WRITE.format("Half"),
        expression="put(out, chosen)",
        tensors=(fact("out", "float32"), fact("chosen", "bool", 4)),
    )
    assert found.title == "put(out, chosen) mixes float32 and float16"
    assert found.fix == "convert one to the other's dtype"
    one = finding(
        "m1 and m2 differ: Float and c10::Half",
        tensors=(fact("k", "int64"), fact("x", "float32"), fact("h", "float16")),
    )
    assert one.fix == "h = h.float()"


def test_prediction_and_target_that_were_swapped_are_told():
    found = finding(
        "\"log_softmax_lastdim_kernel_impl\" not implemented for 'Long'",
        operation="cross_entropy",
        operands=(fact("y", "int64", 4), fact("logits", "float32")),
    )
    assert found.title == "cross_entropy got y in int64 for the prediction"
    assert found.fix == "swap the two: logits is what the model gives"
