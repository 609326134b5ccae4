"""The memory file of an agent that has nothing but files: one JSON object a line, kept by many writers, forgetting by ticks.

`TickFile(path)` appends, reads and maintains it. What is forgotten goes to `<stem>.archive.jsonl`, what cannot be read to
`<stem>.quarantine.jsonl`: no line is ever lost, whenever a process is killed.
"""

from leporello.core.retention.compat import Settings
from leporello.tickfile.drafts import TYPES
from leporello.tickfile.file import TickFile
from leporello.tickfile.lines import Entry, key_of
from leporello.tickfile.report import Moved, Report, SetAside

__all__ = ["TYPES", "Entry", "Moved", "Report", "SetAside", "Settings", "TickFile", "key_of"]
