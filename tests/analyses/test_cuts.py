"""This file tests where code is said to cut a result out of the graph."""

import ast
import textwrap

import pytest

from torchmagic.analyses.comprehensions import told_apart
from torchmagic.analyses.cuts import ANYTHING, Cut, cuts_above, cuts_within, origin_first
from torchmagic.analyses.recomputing import REENTRANT
from torchmagic.analyses.scopes import scopes

LOOP = """
for xb, yb in loader:
    out = model(xb)
    loss = {loss}
    loss.backward()
"""


def cuts(source, *models):
    every = scopes(textwrap.dedent(source))
    found = [cut for scope in every for cut in cuts_above(scope, scope.losses, every, frozenset(models or ("model",)))]
    return [(cut.line, cut.how) for cut in dict.fromkeys(found)]


@pytest.mark.parametrize(
    ("loss", "how"),
    [
        ("criterion(out, yb).item()", ".item()"),
        ("criterion(out.detach(), yb)", ".detach()"),
        ("criterion(out.data, yb)", ".data"),
        ("torch.tensor(criterion(out, yb), requires_grad=True)", "torch.tensor()"),
        ("criterion(out.argmax(1).float(), yb)", ".argmax()"),
        ("criterion(torch.argmax(out, 1).float(), yb)", "torch.argmax()"),
        ("((out > 0).float() - yb).pow(2).mean()", "comparison"),
        ("torch.from_numpy(f(out))", "torch.from_numpy()"),
        ("criterion(torch.max(out, 1)[1].float(), yb)", "max()[1]"),
        ("criterion(out.max(dim=-1)[1] * 1.0, yb)", "max()[1]"),
        ("criterion(out.topk(3).indices / 3, yb)", "topk()[1]"),
    ],
)
def test_each_way_to_lose_the_graph_is_found_at_its_line(loss, how):
    assert (4, how) in cuts(LOOP.format(loss=loss))


@pytest.mark.parametrize(
    "loss",
    [
        "criterion(out, yb)",
        "criterion(out, yb.long())",
        "criterion(out, torch.tensor(yb))",
        "criterion(out, yb.argmax(1)) / len(xb.detach())",
        "criterion(out, yb) if out is not None else None",
        "criterion(torch.max(out, 1)[0], yb)",
        "criterion(torch.max(out, other)[1], yb)",
        "criterion(out.topk(3).values, yb)",
        "criterion(out, yb) / int(0.5 * out.size(0))",
        "criterion(out, yb) / float(len(out))",
        "criterion(out, yb) * (out.shape[0] > 3)",
    ],
)
def test_what_is_done_to_targets_and_inputs_is_no_cut(loss):
    assert cuts(LOOP.format(loss=loss)) == []


def test_indices_that_get_a_name_are_cuts_and_values_are_not():
    loop = "    best, code = torch.max(out, 1)\n    loss = criterion(reader({}), yb)\n    loss.backward()\n"
    start = "for xb, yb in loader:\n    out = model(xb)\n"
    assert cuts(start + loop.format("code")) == [(3, "max()[1]")]
    assert cuts(start + loop.format("best")) == []


def test_a_loss_that_is_an_object_is_looked_into():
    source = """
    class Overlap(nn.Module):
        def hard(self, x):
            return torch.tensor((x > 0.5).float(), requires_grad=True)

        def forward(self, given, wanted):
            given = self.hard(torch.sigmoid(given))
            return 1 - (given * wanted).sum() / wanted.sum()

    measure = Overlap()
    loss = measure(model(x), y)
    loss.backward()
    """
    assert cuts(source)[0] == (4, "torch.tensor()")


def test_what_a_function_with_its_own_backward_returns_is_no_way_to_the_loss():
    source = """
    def learn(code):
        loss = criterion(head(code), goal)
        loss.backward()
        return {"loss": loss.item()}

    def update(x):
        with torch.no_grad():
            code = model(x)
        return learn(code)
    """
    every = scopes(textwrap.dedent(source))
    found = [
        cut
        for each in every
        for result in each.results
        for cut in cuts_above(each, [result.value], every, frozenset({"model"}))
    ]
    assert [(cut.line, cut.how) for cut in found if cut.function == "update"] == [(8, "no_grad")]
    assert found[0].how == "no_grad"


def test_what_is_taken_of_a_loss_for_printing_is_no_cut():
    assert (
        cuts(LOOP.format(loss="criterion(out, yb)") + "    total += loss.item()\n    seen.append(out.argmax(1))\n")
        == []
    )


def test_the_cut_nearest_to_the_loss_comes_first():
    source = """
    for xb, yb in loader:
        values = F.cross_entropy(model(xb), yb, reduction="none").detach().numpy()
        loss = torch.tensor(np.mean(values), requires_grad=True)
        loss.backward()
    """
    assert [line for line, _ in cuts(source)] == [4, 3, 3]


def test_a_function_that_is_called_on_the_way_is_read_too():
    source = """
    def score(pred, target):
        return criterion(pred.detach(), target.long())
    class Trainer:
        def step(self, batch):
            loss = score(self.net(batch[0]), batch[1])
            self.scaler.scale(loss).backward()
    """
    assert [line for line, _ in cuts(source, "net")] == [3]


def test_gradients_that_are_switched_off_are_a_cut_of_their_own_kind():
    with_block = "with torch.no_grad():\n    out = model(x)\nloss = criterion(out, y)\nloss.backward()\n"
    assert cuts(with_block) == [(1, "no_grad")]
    switched = with_block.replace("no_grad()", "set_grad_enabled({})")
    for condition, found in (("epoch > 3", [(1, "no_grad")]), ("False", [(1, "no_grad")]), ("True", [])):
        assert cuts(switched.format(condition)) == found
    decorated = "@torch.no_grad()\ndef run(x):\n    return model(x)\nloss = f(run(x))\nloss.backward()\n"
    assert cuts(decorated) == [(1, "no_grad")]


def test_without_names_of_models_any_value_counts():
    assert cuts("loss = f(a).item()\nloss.backward()\n", ANYTHING) == [(1, ".item()")]


def test_a_forward_is_searched_from_what_it_returns():
    source = """
    class Net(nn.Module):
        def forward(self, x):
            z = self.encoder(x)
            self.last = z.detach()
            return self.head(z.data)
    """
    every = scopes(textwrap.dedent(source))
    assert [(cut.line, cut.how, cut.function) for cut in cuts_within(frozenset({"Net"}), every)] == [
        (6, ".data", "forward")
    ]
    assert cuts_within(frozenset({"Other"}), every) == []


def test_code_that_cannot_be_read_has_no_scopes():
    assert scopes("def (:") == []
    assert len(scopes("%timeit x\nloss.backward()")) == 1


STEP = """
class Lit(LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        scores = self(x)
        loss = F.cross_entropy(scores, y.long())
        {last}
"""


@pytest.mark.parametrize(
    ("last", "how"),
    [
        ("return loss.item()", ".item()"),
        ("return torch.tensor(loss, requires_grad=True)", "torch.tensor()"),
        ("return {'loss': loss.detach(), 'scores': scores}", ".detach()"),
        ("return (loss.detach(), scores) if self.both else loss", ".detach()"),
        ("self.manual_backward(loss.detach())", ".detach()"),
    ],
)
def test_what_a_method_returns_to_a_trainer_is_a_loss(last, how):
    assert cuts(STEP.format(last=last), "self") == [(7, how)]


@pytest.mark.parametrize(
    "last",
    [
        "return loss",
        "return {'loss': loss, 'scores': scores.detach()}",
        "return (loss, scores.detach()) if self.both else loss",
        "self.manual_backward(loss); return loss.item()",
    ],
)
def test_what_it_returns_beside_the_loss_is_no_way_to_it(last):
    assert cuts(STEP.format(last=last).replace("training_step", "compute_loss"), "self") == []


RECOMPUTED = """
class Net(nn.Module):
    def _stem(self, x):
        return self.norm(self.first(x))

    def forward(self, x):
        {lines}
        return self.head(checkpoint(self.last, x, use_reentrant=True))
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("x = checkpoint(self.first, x, use_reentrant=True)", [7]),
        ("x = checkpoint(self.first, x)", [7]),
        ("x = torch.utils.checkpoint.checkpoint(self._stem, x, use_reentrant=flag)", [7]),
        ("for part in self.first: x = checkpoint(part, x, use_reentrant=True)", [7]),
        ("x = checkpoint_sequential(self.first, 2, x, use_reentrant=True)", [7]),
        ("x = checkpoint(self.first, x, use_reentrant=False)", []),
        ("x = checkpoint(self.other, self.first(x), use_reentrant=True)", []),
        ("x = checkpoint(self._other, self.first(x), use_reentrant=True)", []),
        ("y = checkpoint(self.first, x, use_reentrant=True)", []),
    ],
)
def test_a_reentrant_checkpoint_of_the_part_that_comes_to_the_result_is_a_cut(lines, found):
    every = scopes(RECOMPUTED.format(lines=lines))
    ways = [(each, [result.value for result in each.results]) for each in every]
    cuts = [cut for scope, results in ways for cut in cuts_above(scope, results, every, frozenset({"first"}))]
    assert [(cut.line, cut.how) for cut in dict.fromkeys(cuts)] == [(line, REENTRANT) for line in found]


@pytest.mark.timeout(60)
def test_names_that_are_given_through_each_other_are_each_followed_once():
    names = [f"q{i}" for i in range(30)]
    body = "\n".join(f"    {name} = ({' + '.join(names)}) * 0.1" for name in names)
    assert cuts(f"for x in loader:\n{body}\n    loss = (q0 * model(x)).detach()\n    loss.backward()") == [
        (32, ".detach()")
    ]


@pytest.mark.timeout(60)
def test_functions_that_call_each_other_are_each_looked_into_once():
    names = [f"f{i}" for i in range(30)]
    every = "\n".join(f"def {name}(x):\n    return {' + '.join(f'{each}(x)' for each in names)}" for name in names)
    source = f"{every}\ndef last(x):\n    return x.detach()\nloss = f0(last(model(x)))\nloss.backward()"
    assert cuts(source) == [(62, ".detach()")]


def cut(how, line, *, file="<cell>"):
    return Cut(file=file, function="f", line=line, how=how)


def test_what_makes_a_tensor_again_comes_after_what_took_its_value_out_of_the_graph():
    made, taken = cut("torch.tensor()", 9), cut("float()", 4)
    assert origin_first([made, taken]) == [taken, made]
    assert origin_first([taken, made]) == [taken, made]
    assert origin_first([]) == []


def test_on_one_line_or_where_no_value_would_be_left_the_nearest_cut_stays_first():
    made = cut("torch.tensor()", 9)
    for other in (cut(".item()", 9), cut(".argmax()", 4)):
        assert origin_first([made, other]) == [made, other]


def test_variables_of_two_comprehensions_are_two():
    tree = told_apart(ast.parse("a = [v.detach() for v in data]\nb = [v for v in net(x)]\nv = 1"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id.startswith("v")}
    assert len(names) == 3
