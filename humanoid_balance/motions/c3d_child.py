"""Run as a process of its own: reads a C3D with ezc3d, which a damaged file can crash, and writes its arrays as npz.

python c3d_child.py IN.c3d OUT.npz
"""

from __future__ import annotations

import sys

import numpy as np


def main(source: str, target: str) -> None:
    import ezc3d

    file = ezc3d.c3d(source, extract_forceplat_data=True)
    parameters, data = file["parameters"], file["data"]
    plates = data.get("platform", [])
    np.savez(
        target,
        points=data["points"][:3],
        labels=np.array([str(label).strip() for label in parameters["POINT"]["LABELS"]["value"]], dtype=str),
        unit=str(parameters["POINT"]["UNITS"]["value"][0]).strip().lower(),
        rate=float(parameters["POINT"]["RATE"]["value"][0]),
        plate_rate=float(parameters["ANALOG"]["RATE"]["value"][0]),
        force=np.array([plate["force"].T for plate in plates]),
        pressure=np.array([plate["center_of_pressure"].T for plate in plates]),
    )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # whatever ezc3d makes of a broken file: the reason in one line
        sys.exit(" ".join(str(error).split())[:80] or type(error).__name__)
