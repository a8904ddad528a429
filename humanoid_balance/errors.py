"""Bad input, told in one line that names the culprit."""

from __future__ import annotations


class InputError(ValueError):
    """The user gave something that cannot be used; the message is one complete line."""


class ConfigError(InputError):
    """A wrong or missing entry of a configuration file."""

    def __init__(self, file: object, key: str, value: object, allowed: str) -> None:
        self.file, self.key, self.value, self.allowed = str(file), key, value, allowed
        shown = "missing" if value is None else f"is {value!r}"
        super().__init__(f"{file}: '{key}' {shown}; allowed: {allowed}")

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, str, object, str]]:
        """How it travels between processes."""
        return ConfigError, (self.file, self.key, self.value, self.allowed)
