"""Misuses of torch's interface are told from the message and the line, and put into words that fit the line."""

import pytest

from torchmagic.analyses.crash_kinds import kind_of
from torchmagic.analyses.misuses import MISUSES
from torchmagic.records.crash import CrashKind, CrashSiteRecord, GradlessForwardRecord, TensorFact
from torchmagic.records.place import Place
from torchmagic.rules.crashes.api_misuse import api_misuse
from torchmagic.session.run import Run

STATE = (
    "Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: {}. \n\t"
    "Unexpected key(s) in state_dict: {}. "
)
WORKER = """Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 374, in _worker_loop
    data = fetcher.fetch(index)
  File "data.py", line 12, in __getitem__
    return self.rows["y"]
           ~~~~~~~~~^^^^^
  File "/opt/lib/python3.11/site-packages/tables/rows.py", line 3, in __getitem__
    raise KeyError(name)
KeyError: 'y'
"""


def found(message, expression="", *tensors, problem=CrashKind.MISUSE, records=(), **facts):
    run = Run()
    place = Place(file="<cell>", line=4, source=expression or "x")
    named = tuple(TensorFact(name=name, shape=(3,), dtype="float32", device="cpu") for name in tensors)
    run.records.append(
        CrashSiteRecord(
            problem=problem,
            error="RuntimeError",
            message=message,
            place=place,
            expression=expression,
            tensors=named,
            **facts,
        )
    )
    run.records.extend(records)
    return list(api_misuse(run))


def test_what_failed_and_what_to_write_are_named_as_the_line_has_them():
    (finding,) = found("Can't call numpy() on Tensor that requires grad.", "out.numpy()", "out")
    assert finding.title == "out.numpy() asks numpy for a tensor that has a graph"
    assert finding.fix == "out.detach().cpu().numpy()"
    assert (finding.line, finding.source) == (4, "out.numpy()")
    assert finding.evidence["torch says"] == "Can't call numpy() on Tensor that requires grad."


def test_a_loss_that_is_built_with_tensors_is_told_from_a_truth_value():
    says = "Boolean value of Tensor with more than one value is ambiguous"
    (finding,) = found(says, "nn.CrossEntropyLoss(out, y)")
    assert finding.fix == "nn.CrossEntropyLoss()(out, y)"
    (finding,) = found(says, "out == y")
    assert "asks whether a whole tensor is true" in finding.title


def test_a_method_without_parentheses_is_told_where_it_gives_parameters():
    says = "'method' object is not iterable"
    (finding,) = found(says, "torch.optim.Adam(net.parameters, lr=1e-3)")
    assert finding.fix == "torch.optim.Adam(net.parameters(), lr=1e-3)"
    assert found(says, "list(net.children)") == []


@pytest.mark.parametrize(
    ("missing", "unexpected", "fix"),
    [
        ('"fc.weight", "fc.bias"', '"module.fc.weight", "module.fc.bias"', "key.removeprefix('module.')"),
        ('"_orig_mod.fc.weight"', '"fc.weight"', "saved = {'_orig_mod.' + key: value for key, value in saved.items()}"),
        ('"fc.weight", "fc.bias"', '"module.fc.weight", "module.head.bias"', "strict=False"),
        ('"fc.weight", "fc.bias"', '"module.fc.weight"', "strict=False"),
    ],
)
def test_the_prefix_of_a_wrapper_is_told_from_another_model(missing, unexpected, fix):
    (finding,) = found(STATE.format(missing, unexpected), "net.load_state_dict(saved)")
    assert fix in finding.fix
    assert ("keys are missing, as fc.weight, fc.bias and " in finding.title) is ("strict" in fix)


def test_an_error_of_a_worker_is_placed_at_the_line_of_the_dataset():
    (finding,) = found(WORKER, "for x in loader:")
    assert (finding.file, finding.line, finding.source) == ("data.py", 12, 'return self.rows["y"]')
    assert finding.title == "KeyError: 'y', raised by the dataset in a worker"


def test_a_long_line_is_told_by_what_it_calls():
    (finding,) = found("embed_dim must be divisible by num_heads", f"nn.MultiheadAttention({'x' * 60}, 3)")
    assert finding.title.startswith("nn.MultiheadAttention(…) cannot share")


def test_what_no_model_made_in_inference_mode_is_told_and_a_forward_is_left_to_its_rule():
    says, line = "Inference tensors cannot be saved for backward.", "net(h)"
    (finding,) = found(says, line, "h", problem=CrashKind.NO_GRAD)
    assert "h.clone()" in finding.fix
    forward = GradlessForwardRecord(
        step=0, model="net", how="", switched=None, forward=None, backward=None, crashed=True
    )
    assert found(says, line, problem=CrashKind.NO_GRAD, records=[forward]) == []
    assert found("element 0 of tensors does not require grad", line, problem=CrashKind.NO_GRAD) == []


def test_another_crash_is_left_to_its_rule():
    assert found("size mismatch", problem=CrashKind.SHAPE) == []
    assert list(api_misuse(Run())) == []


class Module:
    """Has a method, as torch's has."""

    def parameters(self):
        """Give none."""


class Net(Module):
    """A network of two inputs."""

    def forward(self, x, mask):
        """Give the product."""
        return x * mask


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Net().forward(1), "the line lacks an input of the forward of Net: 'mask'"),
        (lambda: Net().forward(1, 2, 3), "the line gives the forward of Net more inputs than it takes"),
        (lambda: Net().forward(1, 2, weight=3), "the forward of Net takes no weight"),
        (Net.parameters, "the line calls parameters() of a class, and not of an object"),
        (lambda: [1].to("cpu"), "the line takes a list for a tensor"),
        (lambda: {"x": 1}.shape, "the line takes a dict for a tensor"),
    ],
)
def test_what_python_says_of_a_call_is_explained(call, words):
    with pytest.raises((TypeError, AttributeError)) as raised:
        call()
    assert kind_of(str(raised.value), line="the line") is CrashKind.MISUSE
    (finding,) = found(str(raised.value), "the line")
    assert finding.title == words


def test_what_is_no_call_of_a_module_is_left_alone():
    assert kind_of("Table.head() missing 1 required positional argument: 'self'", line="Table.head()") is None
    assert kind_of("'list' object has no attribute 'lower'", line="names.lower()") is None


@pytest.mark.parametrize("misuse", MISUSES, ids=lambda each: each.title)
def test_words_have_no_place_left_open(misuse):
    fields = {"says": "s", "what": "w", "line": "l", "name": "n", "last": "t", "called": "c", "parenthesised": "p"}
    for each in (misuse.title, misuse.why, misuse.fix):
        assert "{" not in each.format("g", "h", **fields)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("stack expects each tensor to be equal size, but got [3] at entry 0", CrashKind.SHAPE),
        ("the size of my garden", None),
        ("optimizer got an empty parameter list", CrashKind.MISUSE),
        ("'Net' object has no attribute 'layer4'", None),
        ("'Linear' object is not iterable", None),
    ],
)
def test_what_is_more_special_comes_first_and_other_errors_are_not_known(message, kind):
    assert kind_of(message, line="net.layer4.weight") is kind
