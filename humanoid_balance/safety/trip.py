"""Why the safety box opened, in words an operator can act on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trip:
    """What is wrong, where (a joint, a board, a person), the value and the limit that it passed."""

    what: str
    where: str
    value: float
    limit: float
    unit: str = ""  # of value and limit
    field: str = ""  # of the data that carried the value, for example ``command.stiffness``

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.what} at {self.where}: {self.value:.4g}{unit}, limit {self.limit:.4g}{unit}"
