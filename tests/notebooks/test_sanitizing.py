"""The rules for stored outputs let measurements differ, as they do between processors, and nothing else."""

import re

import pytest
from nbval.plugin import get_sanitize_patterns

from tests.notebooks.test_notebooks import NOTEBOOKS, SANITIZE, outputs

pytestmark = pytest.mark.notebooks

RULES = get_sanitize_patterns(SANITIZE.read_text(encoding="utf-8"))

MEASURED = [
    ("norm <b>12,574</b> · threshold <b>1000</b>", "norm <b>1.1e+04</b> · threshold <b>1082</b>"),
    ("  evidence  looks 54 · Inf 1472 · NaN 0", "  evidence  looks 7 · Inf 896 · NaN 64"),
    ("the gradient norm reaches 2.38e+27 (first at step 24)", "the gradient norm reaches 12,574 (first at step 26)"),
    ("  where  line 24: loss.backward() · model.0 · step 24", "  where  line 24: loss.backward() · model.0 · step 55"),
    ("loss  2.331 → 3.66e27, min 1.819, max 3.66e27, 90 not finite", "loss  2.331 → 101,636, 60 not finite"),
    ("norm  1 → 1, min 0.54", "norm  0.9998 → 1, min 0.54, max 1"),
    ("64×64 from 0 to 3.1e+19, 3584 zeros", "64×64 from 1.2e-9 to 12,000, 1 zero"),
    ("epoch 4  loss 0.933", "epoch 4  loss 1.076"),
    ("  where     cell 2, line 18: loss", "  where     another cell, line 18: loss"),
    ("they disagree on 34 of 450", "they disagree on 33 of 450"),
    ("<1% of the time went into waiting", "12% of the time went into waiting"),
    ("zero  1,031 (50%)", "zero  1,030 (49.9%)"),
    ("different  57,503 (>99.9%)", "different  57,380 (99.8%)"),
    ("<td>57,503 (&gt;99.9%)</td>", "<td>57,380 (99.8%)</td>"),
    (
        "  evidence  gradient norm 12,574 ·\n            threshold 1000",
        "  evidence  gradient norm 9.5 · threshold 1000",
    ),
    (
        "<caption>Memory of the model at its peak</caption><tr>optimizer state</tr><tr>batch</tr></table>",
        "<caption>Memory of the model at its peak</caption><tr>activations</tr></table>",
    ),
]
SAID = [
    ("2 errors, 1 info.", "2 errors."),
    ("ERROR  the gradient norm reaches 12,574", "WARNING  the gradient norm reaches 12,574"),
    ("addmm makes the first non-finite value at step 26", "log makes the first non-finite value at step 26"),
    ("  where  line 24: loss.backward()", "  where  line 25: loss.backward()"),
    ("model.rnn.weight_hh_l0 · step 24", "model.rnn.weight_ih_l0 · step 24"),
    ("tensor of shape (64, 1)", "tensor of shape (64,)"),
    ("10,132 parameters, all trainable", "10,131 parameters, all trainable"),
    ("  fix  clip_grad_norm_(model.parameters(), 1.0)", "  fix  lower lr"),
    ("116 steps", "115 steps"),
    ("3 findings", "2 findings"),
]


def cleaned(text):
    for pattern, replacement in dict(RULES).items():
        text = re.sub(pattern, replacement, text)
    return text


def texts(notebook):
    for output in outputs(notebook):
        for kind in ("text/plain", "text/html"):
            yield "".join(output.get("data", {}).get(kind, ""))


def test_every_rule_is_read():
    names = re.findall(r"(?m)^\[(.+)\]$", SANITIZE.read_text(encoding="utf-8"))
    assert len(names) == len(set(names)) == len(dict(RULES))


@pytest.mark.parametrize(("one", "other"), MEASURED)
def test_what_is_measured_may_differ(one, other):
    assert cleaned(one) == cleaned(other)


@pytest.mark.parametrize(("one", "other"), SAID)
def test_what_is_said_may_not(one, other):
    assert cleaned(one) != cleaned(other)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_word_of_a_stored_finding_is_compared(notebook):
    for text in texts(notebook):
        for title in re.findall(r'<p class="tm-headline">.*?</p>', text):
            words = re.findall(r"[a-zA-Z_]{3,}", re.sub(r"<[^>]*>", " ", title))
            for word in words:
                changed = re.sub(rf"(?<=[ >]){word}\b", f"{word}ed", title, count=1)
                assert changed == title or cleaned(changed) != cleaned(title), (title, word)
