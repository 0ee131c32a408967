"""This file is the MCP server: what AI assistants may ask of a session, all of it read-only."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import ValidationError

import torchmagic
from torchmagic.server.answers import Answer
from torchmagic.server.assistant_tools import Tools
from torchmagic.server.missing import MissingError
from torchmagic.server.reading import Reader
from torchmagic.session.database import StoreError

INSTRUCTIONS = (
    "torchmagic watched PyTorch training runs and judged them. Begin with list_runs or show_run (the newest run); "
    "findings name the rule, the place, the evidence and the fix; explain_rule tells why a rule speaks and when it "
    "does not. Runs are named by number, id, name or 'last'. Nothing can be changed."
)
_HARMLESS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def assistant(reader: Reader) -> MCPServer:
    """Return the server.

    Args:
        reader: Finds the runs that are asked for.
    """
    server = _Server("torchmagic", instructions=INSTRUCTIONS, version=torchmagic.__version__, log_level="WARNING")
    tools = Tools(reader)
    tables: tuple[Callable[..., Answer], ...] = (tools.list_runs, tools.findings, tools.series)
    texts: tuple[Callable[..., str], ...] = (tools.show_run, tools.compare_runs, tools.explain_rule)
    for tool in (*map(_told, tables), *texts):
        server.add_tool(tool, annotations=_HARMLESS, structured_output=False)
    return server


def _told(tool: Callable[..., Answer]) -> Callable[..., CallToolResult]:
    """Have a tool answer in JSON of one line, whose numbers that JSON does not know are told by name."""

    @wraps(tool)
    def told(**arguments: Any) -> CallToolResult:
        text = tool(**arguments).model_dump_json()
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))

    return told


class _Server(MCPServer[Any]):
    """A server that says in one line what was wrong with a question."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Any = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: With one line: what came, what was wanted, what to do.
        """
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(_wrong(name, cause)) from None
            if isinstance(cause, MissingError | StoreError | ValueError):
                raise ToolError(" ".join(str(cause).split())) from None
            known = ", ".join(tool.name for tool in await self.list_tools())
            if name not in known.split(", "):
                raise ToolError(f"there is no tool {name!r}; there are {known}") from None
            raise


def _wrong(name: str, error: ValidationError) -> str:
    told = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}, got {each['input']!r}" for each in error.errors()]
    return f"{name}: {'; '.join(told)}"
