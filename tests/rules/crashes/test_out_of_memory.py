"""A failed allocation is told with what is resident and the three cheapest cures."""

from torchmagic.records.crash import CrashKind, CrashSiteRecord, OutOfMemoryRecord, Resident, TensorFact
from torchmagic.records.place import Place
from torchmagic.rules.crashes.out_of_memory import out_of_memory
from torchmagic.session.run import Run

GIB = 1 << 30


def finding(**facts):
    run = Run()
    tensors = (TensorFact(name="points", shape=(10, 2), dtype="float32", device="cpu"),)
    place = Place(file="<cell>", line=3, source="loss = step(batch)")
    site = {"problem": CrashKind.MEMORY, "error": "OutOfMemoryError", "message": "CUDA out of memory.", "place": place}
    run.records.append(CrashSiteRecord(**site, module="net.attention", tensors=tensors))
    given = {
        "device": "cuda:0",
        "requested": GIB // 2,
        "total": 16 * GIB,
        "free": GIB // 4,
        "categories": {"parameters": GIB, "gradients": GIB, "optimizer state": 2 * GIB, "activations": 10 * GIB},
        "residents": (),
        "optimizer": "opt (Adam)",
        "model": "net",
        "is_training": True,
        "grad_enabled": True,
        "loader": "train_loader",
        "batch_size": 64,
        "half": False,
    }
    run.records.append(OutOfMemoryRecord(**{**given, **facts}))
    (found,) = out_of_memory(run)
    return found


def test_it_names_the_request_the_place_and_what_is_resident():
    found = finding()
    assert found.title == "cuda:0 is full: net.attention asked for 512.0 MiB more"
    assert (found.module, found.line) == ("net.attention", 3)
    assert found.evidence["asked for (bytes)"] == GIB // 2
    assert found.evidence["resident: activations"] == "10.0 GiB"
    assert found.why == "Most of what this run keeps is activations: 10.0 GiB."


def test_training_is_cured_by_a_smaller_batch_half_precision_and_a_leaner_optimizer():
    first, second, third = finding().fix.split("; ")
    assert first == "1. train_loader = DataLoader(…, batch_size=32) for 64, two backwards a step"
    assert second.startswith("2. with torch.autocast('cuda', dtype=torch.bfloat16)")
    assert third == "3. an optimizer that keeps less than opt (Adam): SGD, or Adafactor"


def test_graphs_in_a_list_go_first():
    found = finding(residents=(Resident(name="losses", what="graphs of 40 tensors", num_bytes=6 * GIB),))
    assert found.fix.startswith("1. keep numbers in losses, not graphs: losses.append(value.item())")
    assert found.evidence["kept by losses"] == "6.0 GiB (graphs of 40 tensors)"


def test_an_evaluation_needs_no_graph():
    assert finding(is_training=False).fix.startswith("1. with torch.no_grad(): net(…)")


def test_a_large_variable_can_be_dropped():
    found = finding(residents=(Resident(name="table", what="9×9 float32", num_bytes=5 * GIB),))
    assert found.fix.startswith("1. del table  # frees 5.0 GiB")


def test_a_request_that_never_fits_is_about_its_shapes():
    found = finding(requested=300 * GIB)
    assert found.title == "net.attention asks for 300.0 GiB at once; cuda:0 has 16.0 GiB"
    assert "look at the shapes of points" in found.fix


def test_a_request_of_unknown_size_is_told_too():
    assert (
        finding(requested=None, total=None, free=None, categories={}).title
        == "cuda:0 is full: net.attention asked for more"
    )
