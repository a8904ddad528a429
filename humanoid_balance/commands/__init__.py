"""Subcommands of ``humanoid-balance``: each has ``configure(parser)`` and ``run(options)``."""
