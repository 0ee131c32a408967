"""Tensors on different devices are named, with the call that brings them together."""

from torchmagic.records.crash import CrashKind, CrashSiteRecord, TensorFact
from torchmagic.records.model import ParameterRecord
from torchmagic.rules.crashes.device_mismatch import device_mismatch
from torchmagic.session.run import Run

SAYS = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def fact(name, device):
    return TensorFact(name=name, shape=(4, 3), dtype="float32", device=device)


def finding(*parameters, **facts):
    run = Run()
    run.records.extend(parameters)
    run.records.append(CrashSiteRecord(problem=CrashKind.DEVICE, error="RuntimeError", message=SAYS, **facts))
    (found,) = device_mismatch(run)
    return found


def layer(weights, given):
    return finding(
        module="net.fc",
        class_name="Linear",
        is_torchs=True,
        weights=(fact("weight", weights),),
        given=(fact("x", given),),
        tensors=(fact("x", given),),
    )


def test_a_batch_that_stayed_on_the_host_goes_to_the_model():
    found = layer("cuda:0", "cpu")
    assert found.title == "net.fc (Linear) lies on cuda:0 and its input on cpu"
    assert (found.module, found.parameter, found.fix) == ("net.fc", "net.fc.weight", "x = x.to('cuda:0')")


def test_a_model_that_stayed_on_the_host_goes_to_the_batch():
    assert layer("cpu", "cuda:0").fix.startswith("net.to('cuda:0')")


def test_a_model_without_values_is_given_some():
    assert layer("meta", "cpu").fix.startswith("net.to_empty(device='cpu')  # its values are then anything")


def lying(name, device):
    model, _, rest = name.partition(".")
    module = rest.rpartition(".")[0]
    return ParameterRecord(
        name=name, model=model, module=module, shape=(4,), dtype="float32", device=device, trainable=True
    )


def left_on_meta(*parameters, name="table"):
    return finding(
        *parameters, module="net.rope", class_name="Rope", weights=(fact(name, "meta"),), given=(fact("x", "cpu"),)
    )


def test_a_buffer_left_on_meta_is_named_and_no_loaded_weight_is_wiped_for_it():
    found = left_on_meta(lying("net.fc.weight", "cpu"))
    assert found.title == "net.rope.table lies on meta and its input on cpu"
    assert found.fix == "net.rope.table = …  # compute it anew on cpu, as its class does"
    assert left_on_meta(lying("net.fc.weight", "meta")).fix.startswith("net.to_empty(")
    assert left_on_meta(lying("other.fc.weight", "cpu")).fix.startswith("net.to_empty(")


def test_a_parameter_left_on_meta_is_loaded_as_the_others_were():
    found = left_on_meta(lying("net.fc.weight", "cpu"), lying("net.rope.scale", "meta"), name="scale")
    assert found.fix == "net.load_state_dict(state, assign=True)  # with a value for rope.scale"


def test_an_attribute_that_was_left_behind_becomes_a_buffer():
    found = finding(tensors=(fact("x", "cuda:0"), fact("self.scale", "cpu")))
    assert found.title == "self.scale lies on cpu, the rest of the line on cuda:0"
    assert "register_buffer('scale'" in found.fix


def test_the_target_that_was_forgotten_is_moved():
    found = finding(
        operation="cross_entropy",
        operands=(fact("input", "cuda:0"), fact("y", "cpu")),
        tensors=(fact("x", "cuda:0"), fact("y", "cpu")),
    )
    assert found.fix == "y = y.to('cuda:0')"


def test_devices_that_nobody_names_are_told_as_torch_does():
    assert "cuda:0 and cpu" in finding().why
