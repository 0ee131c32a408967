"""This file is what ``%load_ext torchmagic`` costs a kernel that has torch already."""

import statistics
import os
import subprocess
import sys

NUM_ROUNDS = 7
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
CODE = """
import time, torch
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
began = time.perf_counter()
shell.run_line_magic("load_ext", "torchmagic")
print(1e3 * (time.perf_counter() - began))
"""


def main() -> None:
    """Print the times of several fresh processes."""
    done = [
        # compiled, as an installed package is
        subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=COMPILED)
        for _ in range(NUM_ROUNDS)
    ]
    times = sorted(float(each.stdout.split()[-1]) for each in done)
    print(
        f"%load_ext torchmagic beside torch, {NUM_ROUNDS} fresh processes: median {statistics.median(times):.1f} ms, "
        f"fastest {times[0]:.1f} ms, slowest {times[-1]:.1f} ms"
    )


if __name__ == "__main__":
    main()
