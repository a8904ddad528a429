"""Properties may take their time on a busy machine."""

from hypothesis import settings

settings.register_profile("busy", deadline=None)
settings.load_profile("busy")
