"""The definition of a message with all it depends on, as bags carry it; taken from the installed message packages."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from humanoid_balance.errors import InputError

PRIMITIVE = re.compile(r"(bool|byte|char|w?string|u?int(8|16|32|64)|float(32|64))\b")
FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(<=\d+)?(\[[<=\d]*\])?\s+[a-z]\w*")


def definition(kind: str) -> str:
    """The text of ``package/Name``."""
    package, name = kind.split("/")
    for prefix in (*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix):
        file = Path(prefix) / "share" / package / "msg" / f"{name}.msg"
        if prefix and file.is_file():
            return file.read_text(encoding="utf-8")
    raise InputError(f"message {kind}: its definition is not installed (share/{package}/msg/{name}.msg)")


def dependencies(kind: str, text: str) -> list[str]:
    """Messages that a definition uses, as ``package/Name``."""
    out = []
    for line in text.splitlines():
        found = FIELD.match(line.split("#")[0])
        if found and not PRIMITIVE.fullmatch(found.group(1)) and "=" not in line.split("#")[0]:
            of = found.group(1)
            if of == "Header":
                of = "std_msgs/Header"
            out.append(of if "/" in of else f"{kind.split('/')[0]}/{of}")
    return out


def schema(kind: str) -> str:
    """The definition and, behind separators, those it depends on."""
    text = definition(kind)
    parts, todo, seen = [text], dependencies(kind, text), {kind}
    while todo:
        of = todo.pop(0)
        if of not in seen:
            seen.add(of)
            text = definition(of)
            parts.append(f"{'=' * 80}\nMSG: {of}\n{text}")
            todo += dependencies(of, text)
    return "\n".join(parts) + "\n"
