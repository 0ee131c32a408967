"""A forward without gradients is told where it stands."""

from torchmagic.records.crash import GradlessForwardRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.no_grad_training import no_grad_training
from torchmagic.session.run import Run

SWITCH = Place(file="<cell>", line=2, source="with torch.no_grad():")
FORWARD = Place(file="<cell>", line=3, source="out = net(x)")
BACKWARD = Place(file="<cell>", line=5, source="loss.backward()")


def finding(**facts):
    run = Run()
    given = {"step": 0, "model": "net", "how": "torch.no_grad()", "switched": SWITCH, "forward": FORWARD}
    run.records.append(GradlessForwardRecord(**{**given, "backward": BACKWARD, "crashed": True, **facts}))
    (found,) = no_grad_training(run)
    return found


def test_the_forward_in_the_block_is_the_place():
    found = finding()
    assert (found.line, found.module) == (3, "net")
    assert found.title == "net ran under torch.no_grad(), and backward was called on the result"
    assert found.evidence["switched off"] == "line 2: with torch.no_grad():"


def test_a_decorator_is_the_place_where_there_is_one():
    at = Place(file="<cell>", line=1, source="@torch.no_grad()")
    assert finding(how="@torch.no_grad()", switched=at).line == 1


def test_a_loss_that_was_made_to_require_a_gradient_is_told_without_a_crash():
    found = finding(crashed=False)
    assert found.confidence < finding().confidence
    assert found.evidence["backward raised"].startswith("no")


def test_gradients_that_stayed_off_are_switched_on_again():
    assert finding(how="torch.set_grad_enabled(False)").fix.startswith("torch.set_grad_enabled(True)")


def test_without_any_place_the_backward_is_told():
    assert finding(forward=None, switched=None, how="").line == 5


def test_a_call_that_holds_from_then_on_is_the_place():
    at = Place(file="<cell>", line=1, source="torch.set_grad_enabled(False)")
    assert finding(how="torch.set_grad_enabled(False)", switched=at).line == 1


def test_a_block_in_which_a_generator_waits_is_the_place_and_its_yield_goes_out_of_it():
    found = finding(how="torch.no_grad() around a yield")
    assert found.line == 2
    assert found.fix.startswith("take the yield out of the block")
