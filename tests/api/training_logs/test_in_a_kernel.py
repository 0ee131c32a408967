"""In a notebook the bar is a widget of the cell that trains, lines come below it, and the next cell runs at once."""

import json

import pytest
from jupyter_client.manager import KernelManager

TIMEOUT = 240
WIDGET = "application/vnd.jupyter.widget-view+json"
TRAINING = """
import asyncio, json, threading
from torchmagic import AsyncTrainingLogger
logger = AsyncTrainingLogger(model_name="net", log_dir="LOGS")
ticks = 0
async def tick():
    global ticks
    while True:
        await asyncio.sleep(0.001)
        ticks += 1
ticking = asyncio.create_task(tick())
logger.start_training(total_epochs=2, total_steps=10)
for epoch in range(2):
    for step in range(5):
        await logger.update_progress_async(epoch=epoch, step=step, loss=0.5)
        await asyncio.sleep(0.002)
logger.log_warning("look here")
await logger.stop_async()
ticking.cancel()
"""
AFTER = """
print(json.dumps([ticks > 5, [each.name for each in threading.enumerate() if "torchmagic" in each.name]]))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=tmp_path_factory.mktemp("kernel"))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(kernel, code):
    """Run a cell; return its reply and its outputs."""
    outputs = []
    reply = kernel.execute_interactive(code, timeout=TIMEOUT, output_hook=outputs.append)
    assert reply["content"]["status"] == "ok", reply["content"]
    return outputs


@pytest.mark.kernel
def test_a_training_in_a_cell(kernel, tmp_path):
    outputs = run(kernel, TRAINING.replace("LOGS", str(tmp_path)))
    shown = [each["content"]["data"] for each in outputs if each["msg_type"] == "display_data"]
    assert [WIDGET in each for each in shown] == [True]
    said = "".join(each["content"]["text"] for each in outputs if each["msg_type"] == "stream")
    assert "training begins" in said
    assert "WARNING  look here" in said
    assert "training ends: 10 steps" in said
    assert "%|" not in said, "a second bar, made of letters"
    states = [each["content"]["data"].get("state", {}) for each in outputs if each["msg_type"].startswith("comm_")]
    assert [state["value"] for state in states if isinstance(state.get("value"), float)][-1] == 10
    after = run(kernel, AFTER)
    text = "".join(each["content"]["text"] for each in after if each["msg_type"] == "stream")
    assert json.loads(text) == [True, []]
