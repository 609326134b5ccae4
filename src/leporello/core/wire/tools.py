"""The tools of a request in the shape of each API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leporello.core.wire import anthropic, openai, responses
from leporello.core.wire.names import legal_name
from leporello.core.wire.pieces import clean
from leporello.errors import BadValue

_LONGEST = {"anthropic": anthropic.NAMES, "openai": openai.NAMES, "openai-responses": responses.NAMES}
_DATED = re.compile(r"_\d{8}$")
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_INPUT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


@dataclass(frozen=True)
class _Tool:
    """A tool that the caller runs: a function with its schema, or a custom tool, which takes text (`format`)."""

    name: str
    about: dict[str, Any]
    schema: dict[str, Any]
    strict: bool
    custom: bool = False
    format: Any = None


def tools_for(wire: str, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`tools` as the `tools` of a request on `wire`: anthropic, openai or openai-responses; another wire raises BadValue.

    Functions of all three shapes (and of MCP) are converted; a tool in the wire's own shape stays as it is, with a legal name; a
    tool that another provider runs is left out, and so is a second tool of one name. Equal input gives equal bytes.
    """
    if wire not in _LONGEST:
        raise BadValue(f"There is no wire {wire!r}; there are {', '.join(_LONGEST)}.")
    out: list[dict[str, Any]] = []
    seen: set[str] = set()
    for tool in tools:
        made = _native(wire, tool) if _shape(tool) == wire else _made(wire, tool)
        name = _name(made) if made is not None else ""
        if made is None or (name and name in seen):
            continue
        seen.add(name)
        out.append(made)
    return out


def tool_name(wire: str, name: str) -> str:
    """The name under which a tool goes out on `wire`: its own where that is legal."""
    return legal_name(name, _LONGEST[wire])


def _name(tool: Mapping[str, Any]) -> str:
    body = next((tool[k] for k in ("function", "custom") if isinstance(tool.get(k), Mapping)), tool)
    return str(body.get("name") or "")


def _shape(tool: Mapping[str, Any]) -> str:
    """The wire whose shape this is; empty for a plain description in the shape of MCP."""
    kind = tool.get("type")
    if kind in {"function", "custom"} and isinstance(tool.get(kind), Mapping):
        return "openai"
    if "input_schema" in tool:
        return "anthropic"
    if not kind or kind == "custom":
        return "openai-responses" if kind and "inputSchema" not in tool else ""
    return "anthropic" if _DATED.search(str(kind)) or kind == "mcp_toolset" else "openai-responses"


def _native(wire: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = clean(tool)
    body = next((out[k] for k in ("function", "custom") if isinstance(out.get(k), dict)), out)
    if out.get("type") in {None, "function", "custom"}:
        body["name"] = tool_name(wire, str(body.get("name") or ""))
    return out


def _made(wire: str, tool: Mapping[str, Any]) -> dict[str, Any] | None:
    """The tool in the shape of another wire than its own; None for one that its provider runs."""
    kind = tool.get("type")
    if kind not in {None, "", "function", "custom"}:
        return None
    held = _read(tool)
    name = tool_name(wire, held.name)
    if wire == "anthropic":
        return {"name": name, **held.about, "input_schema": held.schema, **({"strict": True} if held.strict else {})}
    if held.custom:
        body = {"name": name, **held.about, **({"format": held.format} if held.format is not None else {})}
        return {"type": "custom", "custom": body} if wire == "openai" else {"type": "custom", **body}
    strict = {"strict": True} if held.strict else {}
    if wire == "openai":
        return {"type": "function", "function": {"name": name, **held.about, "parameters": held.schema, **strict}}
    return {"type": "function", "name": name, **held.about, "parameters": held.schema, "strict": held.strict}


def _read(tool: Mapping[str, Any]) -> _Tool:
    body: dict[str, Any] = clean(next((tool[k] for k in ("function", "custom") if isinstance(tool.get(k), Mapping)), tool))
    about = {"description": body["description"]} if body.get("description") else {}
    given = next((body[k] for k in _SCHEMAS if isinstance(body.get(k), dict)), None)
    custom = tool.get("type") == "custom" and given is None
    schema = dict(_INPUT) if custom else given or {}
    return _Tool(
        str(body.get("name") or ""),
        about,
        {"type": "object", "properties": {}} | schema,
        body.get("strict") is True,
        custom,
        body.get("format"),
    )
