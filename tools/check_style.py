"""The rules of the house that ruff and import-linter do not know. `python tools/check_style.py src tests tools` prints each breach.

Raise a number only here, in the change that needs it, with the reason beside it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 500
FUNCTION_LINES = 60
CLASS_METHODS = 20
BANNED_WORDS = {"Manager", "Helper", "Helpers", "Util", "Utils", "Handler", "Processor", "Service", "Base"}
OWN = "leporello"
# Core takes time as an argument and is the same on every run: no clock, no chance, no file, no environment.
IMPURE_CALLS = {"now", "utcnow", "today", "open", "input", "print"}
IMPURE_MODULES = {"time", "random", "secrets", "uuid", "os", "io", "pathlib", "socket", "subprocess", "sqlite3", "apsw"}
MAY_READ_ENVIRONMENT = {"entrypoints", "integrations", "bench"}

Breach = tuple[int, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def check(path: Path) -> list[str]:
    """`path:line: what is wrong` for each breach in one file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    part = _part(path)
    # A port documents its methods and a test counts them: an adapter's class answers for what it adds.
    told_elsewhere = _port_methods(path) if part == "adapters" else set()
    found = [*_sizes(source, tree, told_elsewhere), *_names(path, tree), *_own_imports(tree)]
    if part is not None:
        found += [*_docstrings(tree, told_elsewhere), *_unfinished(tree)]
        if part == "core":
            found += _impure(tree)
        if part not in MAY_READ_ENVIRONMENT:
            found += _environment(tree)
    return [f"{path}:{line}: {what}" for line, what in sorted(found)]


def _part(path: Path) -> str | None:
    """Which part of the package the file is in (`core`, `flows`, …; a top module counts as its own part); None outside it."""
    parts = path.parts
    if "src" not in parts:
        return None
    return Path(parts[parts.index("src") + 2]).stem


def _sizes(source: str, tree: ast.Module, told_elsewhere: set[str]) -> Iterator[Breach]:
    lines = source.count("\n")
    if lines > FILE_LINES:
        yield FILE_LINES, f"the file has {lines} lines; at most {FILE_LINES}"
    for node in ast.walk(tree):
        if isinstance(node, Function):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield node.lineno, f"{node.name}() has {length} lines; at most {FUNCTION_LINES}"
        if isinstance(node, ast.ClassDef):
            methods = len({n.name for n in node.body if isinstance(n, Function)} - told_elsewhere)
            if methods > CLASS_METHODS:
                yield node.lineno, f"class {node.name} has {methods} methods; at most {CLASS_METHODS}"


def _names(path: Path, tree: ast.Module) -> Iterator[Breach]:
    if _words(path.stem) & BANNED_WORDS:
        yield 1, f"the module's name {path.stem!r} says nothing: name what it holds"
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and (bad := _words(node.name) & BANNED_WORDS):
            yield node.lineno, f"class {node.name}: {', '.join(sorted(bad))} says nothing: name what it is"


def _words(name: str) -> set[str]:
    return {w.capitalize() for w in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def _own_imports(tree: ast.Module) -> Iterator[Breach]:
    for function in ast.walk(tree):
        if isinstance(function, Function):
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)) and OWN in {n.split(".")[0] for n in _imported(node)}:
                    yield node.lineno, f"{function.name}() imports our own module: import it at the top"


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]


def _port_methods(path: Path) -> set[str]:
    """Names of the methods of ports: the port documents them for its adapters."""
    ports = Path(*path.parts[: path.parts.index("src") + 2], "ports.py")
    tree = ast.parse(ports.read_text(encoding="utf-8")) if ports.is_file() else ast.Module([], [])
    return {m.name for c in tree.body if isinstance(c, ast.ClassDef) for m in c.body if isinstance(m, Function)}


def _docstrings(tree: ast.Module, told_elsewhere: set[str]) -> Iterator[Breach]:
    if tree.body and not ast.get_docstring(tree):
        yield 1, "the module has no docstring"
    for node in tree.body:
        if isinstance(node, (Function, ast.ClassDef)) and not node.name.startswith("_"):
            if not _documented(node):
                yield node.lineno, f"{node.name} has no docstring"
            if isinstance(node, ast.ClassDef):
                yield from _methods_without_docstring(node, told_elsewhere | {"to_dict"})


def _methods_without_docstring(node: ast.ClassDef, told_elsewhere: set[str]) -> Iterator[Breach]:
    for method in node.body:
        if not isinstance(method, Function) or method.name.startswith("_") or method.name in told_elsewhere:
            continue
        if not _documented(method):
            yield method.lineno, f"{node.name}.{method.name} has no docstring"


def _documented(node: Function | ast.ClassDef) -> bool:
    """Overloads are documented by their implementation; a property of one expression says itself what it gives."""
    if ast.get_docstring(node):
        return True
    marks = {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}
    return "overload" in marks or ("property" in marks and len(node.body) == 1)


def _unfinished(tree: ast.Module) -> Iterator[Breach]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "NotImplementedError":
            yield node.lineno, "NotImplementedError: a port has no optional methods"


def _impure(tree: ast.Module) -> Iterator[Breach]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for bad in {n.split(".")[0] for n in _imported(node)} & IMPURE_MODULES:
                yield node.lineno, f"core imports {bad}: take it as an argument"
        if isinstance(node, ast.Call) and _called(node) in IMPURE_CALLS:
            yield node.lineno, f"core calls {ast.unparse(node.func)}(): take it as an argument"
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"np.random", "numpy.random"}:
            yield node.lineno, "core uses chance"


def _called(node: ast.Call) -> str:
    """The called name; a method counts only on something that looks like a clock: `datetime.now`, `date.today`."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).rpartition(".")[2] in {"datetime", "date", "dt"}:
        return node.func.attr
    return ""


def _environment(tree: ast.Module) -> Iterator[Breach]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}:
            yield node.lineno, "the library reads no environment variable: entrypoints do"


def files_in(roots: list[str]) -> list[Path]:
    """Every Python file below `roots`, sorted."""
    return sorted(p for root in roots for p in ([Path(root)] if root.endswith(".py") else Path(root).rglob("*.py")))


def main(roots: list[str]) -> int:
    """Print every breach; 1 if there is any."""
    files = files_in(roots)
    breaches = [b for path in files for b in check(path)]
    print("\n".join(breaches) or f"{len(files)} files keep the rules of the house.")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["src", "tests", "tools"]))
