"""Configuration files: every entry is checked when it is read.

An error names the file, the key, the value and what is allowed.
"""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from humanoid_balance.errors import ConfigError, InputError


class Reader:
    """Takes entries out of one mapping of the YAML and complains about those left over."""

    def __init__(self, file: Path, data: Any, prefix: str = "") -> None:
        self.file, self.prefix = file, prefix
        if not isinstance(data, dict):
            raise ConfigError(file, prefix.rstrip(".") or "(whole file)", data, "a mapping of keys to values")
        self.data = dict(data)

    @property
    def where(self) -> str:
        """The file and, within it, the mapping."""
        return f"{self.file}: {self.prefix.rstrip('.')}" if self.prefix else str(self.file)

    def bad(self, key: str, value: object, allowed: str) -> ConfigError:
        return ConfigError(self.file, self.prefix + key, value, allowed)

    def take(self, key: str, default: Any = ..., allowed: str = "an entry") -> Any:
        if key not in self.data:
            if default is ...:
                raise self.bad(key, None, allowed)
            return default
        return self.data.pop(key)

    def text(self, key: str, default: Any = ...) -> Any:
        value = self.take(key, default, "a name")
        if value is not default and (not isinstance(value, str) or not value):
            raise self.bad(key, value, "a name")
        return value

    def number(self, key: str, default: Any = ..., low: float = -math.inf, high: float = math.inf) -> Any:
        allowed = f"a number from {low:g} to {high:g}"
        value = self.take(key, default, allowed)
        if value is default:
            return value
        return self.check_number(key, value, low, high)

    def check_number(self, key: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not low <= value <= high:
            raise self.bad(key, value, f"a number from {low:g} to {high:g}")
        return float(value)

    def pair(self, key: str, default: Any = ..., ordered: bool = True) -> Any:
        value = self.take(key, default, "[low, high]")
        if value is default:
            return value
        if not isinstance(value, list) or len(value) != 2:
            raise self.bad(key, value, "[low, high]" if ordered else "[x, y]")
        low, high = (self.check_number(key, v) for v in value)
        if ordered and low >= high:
            raise self.bad(key, value, "[low, high] with low < high")
        return low, high

    def flag(self, key: str, default: bool) -> bool:
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self.bad(key, value, "true or false")
        return value

    def names(self, key: str, default: Any = ()) -> tuple[str, ...]:
        value = self.take(key, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.bad(key, value, "a list of joint names or patterns")
        return tuple(value)

    def listed(self, key: str, default: Any = ...) -> list[Any]:
        value = self.take(key, default, "a list with at least one entry")
        if not isinstance(value, list) or not value:
            raise self.bad(key, value, "a list with at least one entry")
        return value

    def sections(self, key: str) -> list[Reader]:
        """A list of mappings."""
        prefix = self.prefix + key
        return [Reader(self.file, entry, f"{prefix}[{k}].") for k, entry in enumerate(self.listed(key))]

    def section(self, key: str, default: Any = ...) -> Reader:
        return Reader(self.file, self.take(key, default, "a mapping"), f"{self.prefix}{key}.")

    def done(self, known: str) -> None:
        for key, value in self.data.items():
            raise self.bad(str(key), value, f"only these keys: {known}")


def names_of(kind: type, without: tuple[str, ...] = ()) -> str:
    return ", ".join(f.name for f in fields(kind) if f.name not in without)


def read(file: Path) -> Reader:
    """The top mapping of a YAML file."""
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    return Reader(file, data)
