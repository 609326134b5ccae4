"""Project memory as Markdown files: an index, topic files, a JSON index; written from facts, and read back with hand edits.

```
folder/MEMORY.md      the index: a line for each topic file, by sections
folder/deploys.md     a topic: front matter, sections, a bullet for each fact
folder/index.json     facts by topic, path and date
```

A bullet carries the id of its fact and a hash of what was written, so that a hand edit is told from a change in the store.
"""

from __future__ import annotations

from leporello.formats.project.bullets import Bullet, Details, standing
from leporello.formats.project.compare import Edit, Plan, Written, compare
from leporello.formats.project.files import Held, apply, drop_lines, kept_in, scan
from leporello.formats.project.index import paths_in, select, topic_of
from leporello.formats.project.parse import Page, parse
from leporello.formats.project.render import Kept, Rendered, render
from leporello.formats.project.report import Clash, Problem, ProjectReport

__all__ = [
    "Bullet", "Clash", "Details", "Edit", "Held", "Kept", "Page", "Plan", "Problem", "ProjectReport", "Rendered", "Written", "apply",
    "compare", "drop_lines", "kept_in", "parse", "paths_in", "render", "scan", "select", "standing", "topic_of",
]  # fmt: skip
