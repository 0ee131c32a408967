"""A breakpoint that a front end sets in a watched cell is hit: spoken to the kernel in the debugger's protocol."""

from itertools import count

import pytest

pytestmark = pytest.mark.kernel
TIMEOUT = 240


class Debugger:
    """The debugger of a kernel, as JupyterLab drives it."""

    def __init__(self, client):
        self.client = client
        self._seq = count(1)

    def ask(self, command, **arguments):
        content = {"type": "request", "seq": next(self._seq), "command": command, "arguments": arguments}
        request = self.client.session.msg("debug_request", content)
        self.client.control_channel.send(request)
        while True:
            reply = self.client.get_control_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                assert reply["content"].get("success", True), reply["content"]
                return reply["content"].get("body", {})

    def wait_until_stopped(self):
        while True:
            message = self.client.get_iopub_msg(timeout=TIMEOUT)
            if message["msg_type"] == "debug_event" and message["content"]["event"] == "stopped":
                return message["content"]["body"]


@pytest.fixture
def debugger(kernel):
    kernel.run("%%torchdebug\n0")  # what a first run imports would take half a minute under the debugger
    debugger = Debugger(kernel.client)
    debugger.ask("initialize", clientID="test", adapterID="", linesStartAt1=True, columnsStartAt1=True)
    debugger.ask("attach")
    yield debugger
    debugger.ask("disconnect", restart=False, terminateDebuggee=False)


def test_a_breakpoint_in_the_cell_is_hit_on_its_line(kernel, debugger):
    cell = "%%torchdebug\ntotal = 0\nfor i in range(2):\n    total += i\ntotal"
    path = debugger.ask("dumpCell", code=cell)["sourcePath"]
    debugger.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 4}], sourceModified=False)
    debugger.ask("configurationDone")
    request = kernel.client.execute(cell)
    stopped = debugger.wait_until_stopped()
    assert stopped["reason"] == "breakpoint"
    top = debugger.ask("stackTrace", threadId=stopped["threadId"])["stackFrames"][0]
    assert (top["source"]["path"], top["line"]) == (path, 4)
    debugger.ask("setBreakpoints", source={"path": path}, breakpoints=[], sourceModified=False)
    debugger.ask("continue", threadId=stopped["threadId"])
    while (reply := kernel.client.get_shell_msg(timeout=TIMEOUT))["parent_header"].get("msg_id") != request:
        pass
    assert reply["content"]["status"] == "ok"
