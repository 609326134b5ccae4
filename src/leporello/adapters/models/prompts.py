"""The prompts: Markdown files of the package, whose first line says name and version."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Prompt:
    """One prompt: `name` with its version, such as `episode/1`, and its text."""

    name: str
    text: str

    def filled(self, **values: object) -> str:
        """The text with `{key}` replaced by its value; other braces stay as they are."""
        text = self.text
        for key, value in values.items():
            text = text.replace("{" + key + "}", str(value))
        return text


@cache
def prompt(name: str) -> Prompt:
    """The prompt of this file name without its ending."""
    first, _, rest = files("leporello").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").partition("\n")
    return Prompt(first.strip(), rest.strip())


@cache
def feedback(code: str) -> Prompt:
    """What is fed back after a failure with this code; empty text if nothing is."""
    whole = prompt("retry")
    for block in whole.text.split("## ")[1:]:
        title, _, text = block.partition("\n")
        if title.strip() == code:
            return Prompt(whole.name, text.strip())
    return Prompt(whole.name, "")
