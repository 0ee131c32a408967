"""A long run is judged at once."""

import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import rules as scale

from torchmagic.rules.judgement import judge


def unexpected(rule, error):
    raise AssertionError(f"{rule} raised") from error


def test_all_rules_on_ten_thousand_steps_take_less_than_a_second():
    run = scale.long_run(10_000, 300)
    seconds = []
    for _ in range(3):
        began = process_time()
        judge(run, unexpected)
        seconds.append(process_time() - began)
    assert min(seconds) < 1.0
