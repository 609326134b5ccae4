"""Pictures of forgetting, as SVG or PNG: equal input gives equal bytes. Needs matplotlib, the extra `plot`.

Colours are those of Okabe and Ito, which the colour-blind can tell apart; laws differ by their dashes too, events by their shapes.
"""

from __future__ import annotations

import io
import os
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from leporello.errors import BadValue, MissingExtra
from leporello.results import Curve, Outlook

FORMATS = ("svg", "png")
MOST = 12
"""Records in one picture."""
_CLIP = 90
_BLUE, _GREY, _INK = "#0072B2", "#6b6b6b", "#222222"
_COLOURS = (_BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (1, 1)), (0, (9, 3)))
_SHAPES = {
    "observed": ("o", "#000000"), "retrieved": ("|", "#000000"), "shown": ("v", "#56B4E9"), "used": ("^", "#009E73"), "confirmed": ("D", "#E69F00"),
    "contradicted": ("X", "#D55E00"), "archived": ("s", "#6b6b6b"), "restored": ("P", "#CC79A7"),
}  # fmt: skip
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ufff9\ufffa\ufffb")
_FALLBACKS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Microsoft YaHei", "Hiragino Sans", "PingFang SC", "Noto Sans Devanagari", "Noto Emoji",
)  # fmt: skip
_STYLE: dict[str, Any] = {
    "svg.hashsalt": "leporello", "svg.fonttype": "none", "text.parse_math": False, "text.usetex": False,
    "font.size": 9, "font.sans-serif": ["DejaVu Sans"], "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": _GREY, "text.color": _INK,
    "axes.labelcolor": _INK, "xtick.color": _INK, "ytick.color": _INK, "axes.unicode_minus": False, "timezone": "UTC",
}  # fmt: skip


def format_of(path: str, *, force: bool = False) -> str:
    """The format that a path's suffix names. `BadValue` for another suffix, a folder that is not there, and, unless `force`, a file that is."""
    name = os.path.splitext(path)[1].lower().removeprefix(".")
    if name not in FORMATS:
        raise BadValue(f"{path!r:.200} ends in neither .svg nor .png.", hint="Name the picture with one of them, such as forget.svg.")
    folder = os.path.dirname(path) or "."
    if "\x00" in path or not os.path.isdir(folder):
        raise BadValue(f"There is no folder {folder!r:.200}.", hint="Make it first, or name a picture in one that is there.")
    if os.path.isdir(path):
        raise BadValue(f"{path!r:.200} is a folder.", hint="Name a file that ends in .svg or .png.")
    if os.path.exists(path) and not force:
        raise BadValue(f"There is a file {path!r:.200} already.", hint="Name another one, or write over it with --force.")
    return name


def label(text: str, *, at: int = _CLIP) -> str:
    """A text as it may stand in a picture: one line of at most `at` characters, without what cannot be seen or turns the writing."""
    kept = "".join(c if _seen(c) else " " for c in text[: at * 8])
    line = " ".join(kept.split())
    return line if len(line) <= at and len(text) <= at * 8 else line[: at - 2].rstrip() + " …"


def _seen(c: str) -> bool:
    return unicodedata.category(c) not in {"Cc", "Cs", "Cn", "Co"} and c not in _TURNS


def picture(found: Outlook, *, format: str) -> bytes:
    """The curves of an outlook, or without any, its counts. Raises `MissingExtra`; `BadValue` for more than `MOST` curves."""
    if len(found.curves) > MOST:
        raise BadValue(f"{len(found.curves)} records do not fit into one picture.", hint=f"Name at most {MOST}.")
    matplotlib = _loaded("matplotlib")
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # an SVG's viewer has fonts of its own; a PNG shows a box
        warnings.filterwarnings("ignore", message=".*does not support .* natively")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        matplotlib.rcParams["font.family"] = ["DejaVu Sans", *(_installed() if format == "png" else ("sans-serif",))]
        figure = _curves(found) if found.curves else _counts(found)
        out = io.BytesIO()
        figure.savefig(out, format=format, dpi=144, metadata={"Date": None} if format == "svg" else {"Software": None})
    return out.getvalue()


def _loaded(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as e:
        if e.name is None or e.name.split(".")[0] != "matplotlib":
            raise
        raise MissingExtra("The package matplotlib is not installed.", hint="Run `pip install 'leporello[plot]'`.") from e


def _installed() -> list[str]:
    """The fonts of this machine that hold what the first one lacks."""
    names = {f.name for f in _loaded("matplotlib.font_manager").fontManager.ttflist}
    return [name for name in _FALLBACKS if name in names]


def _figure(height: float) -> Any:
    return _loaded("matplotlib.figure").Figure(figsize=(9, height), layout="constrained")


# --- curves ----------------------------------------------------------------------------------------------------------


def _curves(found: Outlook) -> Any:
    figure = _figure(1.0 + 2.7 * len(found.curves))
    panels = figure.subplots(len(found.curves), 1, squeeze=False)[:, 0]
    shown: dict[str, Any] = {}
    for panel, curve in zip(panels, found.curves, strict=True):
        for name, artist in _panel(panel, curve, found).items():
            shown.setdefault(name, artist)
    names = sorted(shown, key=lambda n: (n in _SHAPES, n == "confidence", n if n not in _SHAPES else str(list(_SHAPES).index(n))))
    figure.legend([shown[n] for n in names], names, loc="outside lower center", ncols=min(6, len(names)), frameon=False)
    return figure


def _panel(panel: Any, curve: Curve, found: Outlook) -> dict[str, Any]:
    """Draws one record; what the legend says of it."""
    shown: dict[str, Any] = {}
    if curve.confidence is not None:
        (shown["confidence"],) = panel.plot(curve.times, curve.confidence, color=_GREY, linewidth=0.8)
        panel.axhline(0.2, color=_GREY, linewidth=0.7, linestyle=":")
        panel.annotate("confidence out of recall", (0, 0.2), xycoords=("axes fraction", "data"), fontsize=6, color=_GREY, va="bottom")
    for i, (law, values) in enumerate(curve.retention.items()):
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        (shown[f"retention, {law}"],) = panel.plot(curve.times, values, color=colour, linestyle=dashes, linewidth=1.8)
    for kind, (shape, colour) in _SHAPES.items():
        held = [e for e in curve.events if e.kind == kind]
        if held:
            (shown[kind],) = panel.plot(
                [e.at for e in held], [e.retention for e in held], linestyle="none", marker=shape, markersize=7, color=colour,
                markeredgecolor="black" if shape != "|" else colour, markeredgewidth=0.6 if shape != "|" else 1.5, clip_on=False, zorder=3,
            )  # fmt: skip
    _levels(panel, curve)
    panel.axvline(found.at, color=_GREY, linewidth=1, linestyle=(0, (1, 2)))
    panel.annotate("now", (found.at, 1.04), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8, color=_GREY)
    panel.set_ylim(0, 1.03)
    panel.set_ylabel("retention" if curve.confidence is None else "retention, confidence")
    panel.set_xlim(curve.times[0], curve.times[-1])
    pinned = ", pinned" if curve.pinned else ""
    panel.set_title(f"{label(curve.text)}\n{curve.kind} {curve.id}{pinned}", loc="left", fontsize=9, pad=14)
    _dated(panel)
    return shown


def _levels(panel: Any, curve: Curve) -> None:
    """Lines at the marks of the laws, each level once, with its names at the right."""
    levels: dict[float, list[str]] = {}
    for law, marks in curve.marks.items():
        whose = f" ({law})" if len(set(curve.marks.values())) > 1 else ""
        for what, level in zip(("fading", "forgotten"), marks, strict=True):
            names = levels.setdefault(level, [])
            names += [] if f"{what}{whose}" in names else [f"{what}{whose}"]
    for level, names in levels.items():
        panel.axhline(level, color=_GREY, linewidth=0.7, linestyle=(0, (4, 3)))
        told = f"{', '.join(names)} {level:g}"
        panel.annotate(
            told, (1.01, level), xycoords=panel.get_yaxis_transform(), va="center", fontsize=7.5, color=_GREY, annotation_clip=False
        )


def _dated(panel: Any) -> None:
    dates = _loaded("matplotlib.dates")
    locator = dates.AutoDateLocator(minticks=3, maxticks=9)
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


# --- counts ----------------------------------------------------------------------------------------------------------


def _counts(found: Outlook) -> Any:
    figure = _figure(8)
    status, days, weeks = figure.subplots(3, 1)
    names = list(found.counts)
    status.barh(names, list(found.counts.values()), color=_BLUE)
    status.invert_yaxis()
    most = max([1, *found.counts.values()])
    for i, n in enumerate(found.counts.values()):
        status.annotate(f"{n:,}", (n, i), xytext=(4, 0), textcoords="offset points", va="center")
    status.set_xlim(0, most * 1.12)
    _whole_numbers(status.xaxis)
    law = f"law {found.law}, half-life {found.half_life:g} days"
    status.set_title(f"{found.records:,} facts and episodes on {found.at:%Y-%m-%d}, by status ({law})", loc="left", fontsize=10)
    _bars(days, found.next_days, f"fall due in each of the next 7 days ({found.overdue:,} are overdue)", lambda i: f"day {i + 1}")
    _bars(weeks, found.next_weeks, "fall due in each of the next 12 weeks", lambda i: f"week {i + 1}")
    return figure


def _bars(panel: Any, values: Sequence[int], title: str, name: Callable[[int], str]) -> None:
    panel.bar([name(i) for i in range(len(values))], values, color=_COLOURS[1])
    panel.set_ylim(0, max([1, *values]) * 1.18)
    _whole_numbers(panel.yaxis)
    for i, n in enumerate(values):
        panel.annotate(f"{n:,}", (i, n), xytext=(0, 3), textcoords="offset points", ha="center")
    panel.set_title(title, loc="left", fontsize=10)


def _whole_numbers(axis: Any) -> None:
    axis.set_major_locator(_loaded("matplotlib.ticker").MaxNLocator(nbins=5, integer=True))
