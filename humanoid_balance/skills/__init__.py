"""Skills: falling, rolling, getting up. Scripts are data (``config/skills``); here are their player and optimiser."""
