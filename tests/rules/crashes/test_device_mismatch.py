"""Tensors on different devices are named, with the call that brings them together."""

from torchmagic.records.crash import CrashKind, CrashSiteRecord, TensorFact
from torchmagic.rules.crashes.device_mismatch import device_mismatch
from torchmagic.session.run import Run

SAYS = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def fact(name, device):
    return TensorFact(name=name, shape=(4, 3), dtype="float32", device=device)


def finding(**facts):
    run = Run()
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
