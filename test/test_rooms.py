"""The shape of the package: who may import whom, and one name for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import humanoid_balance

ROOT = Path(humanoid_balance.__file__).parent
BOXES = ("estimation", "balance", "wholebody", "safety")
# What every box may build on: the data on the arrows and its rows of numbers, flat geometry, the robot, bad input.
COMMON = {"types", "layout", "geometry", "robot", "errors"}

Graph = dict[str, set[str]]


def modules() -> dict[str, ast.Module]:
    """Name within the package -> its text."""
    found = {}
    for file in ROOT.rglob("*.py"):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = ast.parse(file.read_text(encoding="utf-8"))
    return found


MODULES = modules()


def imports(tree: ast.Module, types: bool = True) -> set[str]:
    """All modules of the package that a module imports, at once or later; ``types``: also for type checkers only."""
    out, unread = set(), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not types:
            unread |= {id(child) for child in ast.walk(node)}
        if id(node) in unread:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "humanoid_balance":
            package = (node.module or "").partition(".")[2]
            for alias in node.names:
                inner = f"{package}.{alias.name}".strip(".")
                out.add(inner if inner in MODULES else package)
    return out - {""}


GRAPH: Graph = {name: imports(tree) for name, tree in MODULES.items() if name != "__init__"}


def room(module: str) -> str:
    return module.split(".")[0]


def cycle(graph: Graph) -> list[str]:
    """A way from a node back to itself, if there is one."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for target in sorted(graph.get(node, ())):
            found = visit(target, [*path, node])
            if found:
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := visit(node, []))), [])


def test_no_module_imports_itself_by_a_detour() -> None:
    assert cycle({name: imports(tree, types=False) for name, tree in MODULES.items()}) == []


def test_no_room_imports_itself_by_a_detour() -> None:
    rooms: Graph = defaultdict(set)
    for module, targets in GRAPH.items():
        rooms[room(module)] |= {room(target) for target in targets} - {room(module)}
    assert cycle(rooms) == []


def test_boxes_know_the_data_the_robot_and_themselves_only() -> None:
    strangers = {
        f"{module} imports {target}"
        for module, targets in GRAPH.items()
        for target in targets
        if room(module) in BOXES and room(target) not in COMMON | {room(module)}
    }
    assert strangers == set()


def test_no_class_name_has_two_meanings() -> None:
    """Two classes of one name make every search a guess. Private ones are looked for in their file only."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twice


def test_cycles_are_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
