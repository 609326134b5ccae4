"""Requests that providers accept, from messages of any origin: pairing and order repaired, the log untouched.

The rules (of the Anthropic Messages, OpenAI Chat and OpenAI Responses APIs): results stand right after the call, first in the
user turn; each call has one result; ids are unique; no text follows a call; no empty text; signed thinking does not outlive
its prefix; the list opens and ends with a user message. What came without its partner is repaired: a call without a result
gets an error result that says so, a result without a call is shown as text. What comes from the same provider goes out as it
came, other content is converted, and what cannot be converted is named with an id.
"""

from __future__ import annotations

from leporello.core.wire.anthropic import for_anthropic
from leporello.core.wire.clipping import clipped
from leporello.core.wire.exchanges import CONTINUE, MISSING, OPENING
from leporello.core.wire.openai import for_openai
from leporello.core.wire.pieces import NO_CAPS, Caps, Sent, media_count
from leporello.core.wire.responses import for_responses
from leporello.core.wire.tools import tool_name, tools_for

__all__ = [
    "CONTINUE",
    "MISSING",
    "NO_CAPS",
    "OPENING",
    "Caps",
    "Sent",
    "clipped",
    "for_anthropic",
    "for_openai",
    "for_responses",
    "media_count",
    "tool_name",
    "tools_for",
]
