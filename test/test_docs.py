"""What the docs say a command prints is what it prints, and the tests they name are there.

A fenced block after the line ``<!-- checked -->`` is a command behind ``$ humanoid-balance`` and its whole output.
"""

import re
import shlex
from pathlib import Path

import pytest

from humanoid_balance.cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"<!-- checked -->\n```\w*\n\$ humanoid-balance ([^\n]*)\n(.*?)```", re.DOTALL)
CHECKED = [
    pytest.param(command, printed, id=f"{page.name}: {command}")
    for page in sorted(DOCS.glob("*.md"))
    for command, printed in BLOCK.findall(page.read_text(encoding="utf-8"))
]


def test_some_figures_of_the_docs_are_checked():
    assert CHECKED


@pytest.mark.parametrize(("command", "printed"), CHECKED)
def test_a_command_prints_what_the_docs_say(command, printed, capsys):
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == printed


PAGES = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
COMMAND = re.compile(r"pytest ([^`\n|]*)")
NAMED = [
    pytest.param(command, id=f"{page.name}: {command}")
    for page in PAGES
    for command in sorted(set(COMMAND.findall(page.read_text(encoding="utf-8"))))
    if "test/" in command
]


@pytest.mark.parametrize("command", NAMED)
def test_the_tests_that_prove_a_figure_are_there(command):
    """A test that was moved or renamed leaves a figure that nobody can check."""
    files = [ROOT / path for path in re.findall(r"test/[\w/.]*\w", command)]
    assert all(file.exists() for file in files), command
    for word in re.findall(r"-k (\w+)", command):
        texts = [path.read_text() for file in files for path in ([file] if file.is_file() else file.rglob("*.py"))]
        assert any(re.search(rf"def test_\w*{word}", text) for text in texts), f"no test of {command} is called {word}"
