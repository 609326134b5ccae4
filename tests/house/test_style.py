"""The style check finds what it is for, and the project has none of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_style", ROOT / "tools/check_style.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STYLE = load()
LONG = "def f() -> None:\n    '''Say.'''\n" + "    x = 1\n" * 60
MANY = "class C:\n    '''Say.'''\n" + "".join(f"    def _m{i}(self) -> None: ...\n" for i in range(21))

BREACHES = [
    ("core/a.py", "x = 1\n", "no docstring"),
    ("core/a.py", "'''A.'''\nimport random\n", "core imports random"),
    ("core/a.py", "'''A.'''\nfrom os.path import join\n", "core imports os"),
    ("core/a.py", "'''A.'''\nimport datetime\nx = datetime.datetime.now()\n", "core calls datetime.datetime.now"),
    ("core/a.py", "'''A.'''\nfrom datetime import date\nx = date.today()\n", "core calls date.today"),
    ("core/a.py", "'''A.'''\nx = open('f')\n", "core calls open"),
    ("core/a.py", "'''A.'''\nimport numpy as np\nx = np.random\n", "chance"),
    ("flows/a.py", "'''A.'''\nimport os\nx = os.environ['X']\n", "environment"),
    ("flows/a.py", "'''A.'''\ndef f() -> None:\n    '''Say.'''\n    from leporello import errors\n", "imports our own module"),
    ("flows/a.py", "'''A.'''\ndef f() -> None: ...\n", "f has no docstring"),
    ("flows/a.py", "'''A.'''\nclass C:\n    '''Say.'''\n    def m(self) -> None: ...\n", "C.m has no docstring"),
    ("flows/a.py", "'''A.'''\nclass FoldManager:\n    '''Say.'''\n", "class FoldManager"),
    ("flows/a.py", "'''A.'''\nclass BaseFold:\n    '''Say.'''\n", "class BaseFold"),
    ("flows/fold_utils.py", "'''A.'''\n", "says nothing"),
    ("flows/a.py", "'''A.'''\ndef f() -> None:\n    '''Say.'''\n    raise NotImplementedError\n", "no optional methods"),
    ("flows/a.py", f"'''A.'''\n{LONG}", "f() has 62 lines"),
    ("flows/a.py", f"'''A.'''\n{MANY}", "class C has 21 methods"),
    ("flows/a.py", "'''A.'''\n" + "x = 1\n" * 500, "the file has 501 lines"),
]


@pytest.mark.parametrize(("name", "source", "what"), BREACHES, ids=[b[2] for b in BREACHES])
def test_a_breach_is_found(name: str, source: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "src" / "leporello" / name
    path.parent.mkdir(parents=True)
    path.write_text(source)
    found = STYLE.check(path)
    assert len(found) == 1 and what in found[0]


def test_what_is_allowed_is_let_through(tmp_path: Path) -> None:
    path = tmp_path / "src" / "leporello" / "entrypoints" / "cli.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "'''A.'''\nimport os\nfrom typing import overload\nx = os.environ\n"
        "class Database:\n    '''Say.'''\n    @property\n    def name(self) -> str:\n        return 'x'\n"
        "    @overload\n    def get(self, i: int) -> int: ...\n    def get(self, i: int) -> int:\n        '''Say.'''\n        return i\n"
    )
    assert STYLE.check(path) == []


def test_the_project_keeps_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert [b for p in STYLE.files_in(["src", "tests", "tools"]) for b in STYLE.check(p)] == []
