"""Balance for torque-controlled humanoids: estimate, decide, control, and stay on your feet."""

import os

# One thread for linear algebra: small matrices lose milliseconds to a thread pool. Must be set before numpy is loaded.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

__version__ = "0.1.0"
