"""This file tests which line is found that keeps the graphs of earlier steps."""

import pytest

from torchmagic.analyses.stored_lines import line_that_stores

LOOP = """losses, total, history, kept = [], 0, {{"loss": []}}, None
for x in xs:
    out = net(x)
    loss = criterion(out, y)
    {line}
    loss.backward()
"""


def stored(line, *, holders=(), backward=6):
    return line_that_stores(LOOP.format(line=line), ["loss"], holders, backward)


@pytest.mark.parametrize(
    "line",
    [
        "losses.append(loss)",
        "total += loss",
        "total = total + loss",
        'history["loss"].append(loss)',
        'history.setdefault("loss", []).append(loss)',
        "self.last = loss",
        "kept[0] = loss",
        "losses.append(out)",
        "losses.append(loss / 2)",
        "losses.extend([loss])",
        "self.seen.append(value=loss)",
    ],
)
def test_every_way_of_keeping_a_graph_is_found(line):
    assert stored(line) == 5


@pytest.mark.parametrize(
    "line",
    [
        "losses.append(loss.item())",
        "losses.append(loss.detach())",
        "total += loss.data",
        "total += float(loss)",
        "losses.append(x)",
        'losses.append(f"{loss}")',
        "print(loss)",
        "other = loss",
        "with torch.no_grad(): total += loss",
    ],
)
def test_what_keeps_no_graph_is_not_told(line):
    assert stored(line) is None


def test_a_block_of_another_kind_hides_nothing():
    assert stored("with timer(): total += loss") == 5


def test_what_is_known_to_hold_graphs_comes_first():
    source = LOOP.format(line="losses.append(loss); kept.append(loss)")
    source = source.replace("; ", "\n    ")
    assert line_that_stores(source, ["loss"], [], 7) == 5
    assert line_that_stores(source, ["loss"], ["kept"], 7) == 6
    assert line_that_stores(source.replace("kept.a", "self.kept.a"), ["loss"], ["trainer.kept"], 7) == 6


def test_a_line_outside_of_the_loop_counts_less():
    source = "first.append(loss)\n" + LOOP.format(line="losses.append(loss)")
    assert line_that_stores(source, ["loss"], [], 7) == 6
    assert line_that_stores("first.append(loss)\nloss.backward()\n", ["loss"], [], 2) == 1
    assert line_that_stores("total = total + loss\nloss.backward()\n", ["loss"], [], 2) is None


def test_a_method_of_the_users_is_looked_into():
    source = "class Log:\n    def append(self, loss):\n        self.all.append(loss)\n\n\n" + LOOP.format(
        line="log.append(loss)"
    )
    assert line_that_stores(source, ["loss"], ["log.all"], 11) == 3


STEP = """def step(x):
    loss = criterion(net(x), y)
    loss.backward()
    return {given}


{line}
"""


@pytest.mark.parametrize("line", ["for x in xs:\n    kept.append(step(x))", "\nkept = [step(x) for x in xs]"])
def test_what_a_function_returns_is_found_where_it_is_kept(line):
    assert line_that_stores(STEP.format(given="loss", line=line), ["loss"], [], 3) == 8
    assert line_that_stores(STEP.format(given="loss.item()", line=line), ["loss"], [], 3) is None
    assert line_that_stores(STEP.format(given="loss", line=line.replace("(x)", "(x).item()")), ["loss"], [], 3) is None


def test_a_name_that_was_taken_out_of_its_graph_above_keeps_none():
    summed = "\n    for item in out:\n        total = total + item[0]"
    kept, cut = (LOOP.format(line=line + summed) for line in ("print(out)", "out = out.detach().numpy()"))
    assert line_that_stores(kept, ["loss"], [], 8) == 7
    assert line_that_stores(cut, ["loss"], [], 8) is None


@pytest.mark.parametrize(("given", "line"), [("loss", 3), ("value=loss", 3), ("loss.item()", None)])
def test_what_a_method_is_given_is_found_where_it_is_kept(given, line):
    log = "class Log:\n    def note(self, value, name):\n        self.all.append(value)\n\n\n"
    loop = LOOP.format(line=f"log.note({given}, name='train')")
    assert line_that_stores(log + loop, ["loss"], [], 11) == line


@pytest.mark.parametrize(
    ("line", "told"),
    [("stats[name].append(value)", 6), ("stats[name].append(value.item())", None), ("names.append(x)", None)],
)
def test_parts_of_a_sum_are_found_where_each_is_kept(line, told):
    source = f"""for x, y in batches:
    terms = {{"mse": mse(net(x), y), "l1": l1(net(x), y)}}
    opt.zero_grad()
    sum(terms.values()).backward()
    for name, value in terms.items():
        {line}
    opt.step()
"""
    assert line_that_stores(source, ["loss"], [], 4) == told


@pytest.mark.parametrize(
    ("line", "holder"),
    [
        ("total += out.loss", "total"),
        ("total = total + parts['nll']", "total"),
        ("self.rows.append(found)", "tracker.rows"),
        ("history.append({'nll': parts['nll']})", "history"),
    ],
)
def test_what_is_put_into_a_variable_that_was_seen_to_hold_graphs_is_found_by_it(line, holder):
    source = f"""for x in xs:
    out, parts, found = net(x), terms(x), kept(x)
    out.loss.backward()
    {line}
    seen.append(out.loss.item())
"""
    assert line_that_stores(source, ["nothing"], [holder], 3) == 4
    assert line_that_stores(source.replace(line, "total += out.loss.item()"), ["nothing"], ["total"], 3) is None


def test_what_brings_a_graph_for_certain_is_preferred_to_what_may():
    source = "for x in xs:\n    loss = net(x)\n    loss.backward()\n    kept.append(names)\n    kept.append(loss)\n"
    assert line_that_stores(source, ["loss"], ["kept"], 3) == 5


@pytest.mark.parametrize(
    "empty",
    [
        *("defaultdict(list)", "[]", "dict()", "deque(maxlen=9)", "collections.OrderedDict()"),
        *("deque(maxlen=size)", "deque([], size)", "defaultdict(lambda: deque(maxlen=size))"),
    ],
)
def test_the_line_that_makes_an_empty_store_is_not_the_one_that_fills_it(empty):
    made = f"self.size, self.history = size, {empty}\n"
    source = made + "def hook(module, args, output):\n    self.history[name].append(output.std())\n"
    assert line_that_stores(source, ["loss"], ["recorder.history"], 0) == 3
