"""What the docs say a command prints is what it prints.

A fenced block after the line ``<!-- checked -->`` is a command behind ``$ humanoid-balance`` and its whole output.
"""

import re
import shlex
from pathlib import Path

import pytest

from humanoid_balance.cli import main

DOCS = Path(__file__).resolve().parents[1] / "docs"
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
