"""All that a robot can do: what keeps it on its feet and walks (``balance``), gaits, skills on the ground, clips.

The rows below are read after those of ``balance.transitions.STANDARD``, where the columns are explained.
"""

from __future__ import annotations

from humanoid_balance.balance.modes.mode import done
from humanoid_balance.balance.transitions import STANDARD, Transition
from humanoid_balance.gaits import mode as gait
from humanoid_balance.motions import mode as motion
from humanoid_balance.motions import tracking
from humanoid_balance.skills import falling, lying, rising
from humanoid_balance.skills import mode as skill

WHOLE = STANDARD.instead(falling.ProtectedFalling).plus(
    modes=(gait.FiniteStateGait, lying.Lying, skill.Skill, rising.Rising, motion.Playing, tracking.Tracking),
    table=(
        Transition("stable", "gait", gait.asked, "asked for a gait"),
        Transition("gait", "falling", gait.lost, "nothing more can be won on the feet"),
        Transition("gait", "in place", gait.stopped, "asked to stop"),
        #
        Transition("stable", "motion", motion.asked, "asked for a clip"),
        Transition("motion", "in place", motion.pushed, "pushed during a clip"),
        Transition("motion", "in place", motion.stopped, "asked to stop"),
        #
        *tracking.ROWS,
        #
        Transition("falling", "lying", done, "the fall is over"),
        Transition("lying", "skill", skill.asked, "asked for a skill"),
        Transition("skill", "rising", skill.feet_found, "on its feet"),
        Transition("skill", "lying", done, "the skill is over"),
        Transition("rising", "in place", rising.risen, "stands again"),
        Transition("rising", "falling", rising.tipped, "the feet are lost"),
    ),
)
