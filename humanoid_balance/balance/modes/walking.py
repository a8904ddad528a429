"""Walking: step after step at the commanded velocity or onto planned footsteps, adapted to the DCM every tick."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from humanoid_balance.balance.crouch import Crouch
from humanoid_balance.balance.footsteps import DIRE, HASTE, Adapted, Flying, Pendulum, landings
from humanoid_balance.balance.freedom import missing
from humanoid_balance.balance.gait import Gait, Step, Velocity
from humanoid_balance.balance.ground import Ground, Spot
from humanoid_balance.balance.handover import Handover, driven
from humanoid_balance.balance.heel import Heel, Toes
from humanoid_balance.balance.laws import Wish
from humanoid_balance.balance.memory import BOTH, Memory
from humanoid_balance.balance.modes.mode import BalanceMode
from humanoid_balance.balance.pace import Pace
from humanoid_balance.balance.placement import adapter
from humanoid_balance.balance.reference import WALK
from humanoid_balance.balance.route import Route
from humanoid_balance.balance.situation import LIGHT, Situation, Stance
from humanoid_balance.balance.stance_axes import StanceAxes
from humanoid_balance.balance.step_cycle import SWING as SWINGING
from humanoid_balance.balance.step_cycle import StepCycle
from humanoid_balance.balance.treads import Path, Treads
from humanoid_balance.geometry import Point
from humanoid_balance.types import GRAVITY, STILL, Command, HeelReference, Reference

SHIFT, TRANSFER, SWING = "shift", "transfer", "swing"  # the weight goes onto the first stance foot; changes feet
DEPTH = 0.001  # landings are planned this far below the ground: the foot is down in time [CoM heights]
SCUFF = 0.03  # a foot that should be high and touches the ground for less than this goes on [s]
TOUCHDOWN = 0.07  # speed of a foot that lands [sqrt(g h)]: slower ones leave open when, faster ones knock
HURRY = 0.12  # the velocity that steps aim at follows the command with this acceleration [g]
FRONT = 0.98  # share of the sole's half length beyond which the pressure is where a rising heel brings it
SLOW = 0.005  # commands below this are none [m/s, rad/s]
MOMENTUM = np.array([100.0, 100.0, 10.0])  # weight of the angular momentum against that of joint accelerations
ENDS = 1.2  # a DCM that will be no further from the stance foot lets the next step be the last [half soles]
LONGEST = 0.85  # of the longest step that a foot is sent to on known ground: what is left is for the DCM
STAIR_SWING = 1.8  # a foot that goes up or down two stairs takes so long, in pendulum times: a leg that is thrown
# by 30 m/s² takes the centre of pressure of TALOS to its toes
PATIENCE = 2.0  # a shift that takes longer is given up [s]


Heels = tuple[HeelReference | None, HeelReference | None]


def asked(now: Situation, memory: Memory) -> bool:
    """The operator wants the robot to go, or has a plan that it can follow, and its legs can."""
    if _walking(memory).unable:
        return False
    route = _walking(memory).route
    route.see(now)
    return (now.command is not STILL and wanted(now.command)) or route.begins(now)


def as_placed(now: Situation, memory: Memory) -> bool:
    """The feet stand where a plan ends that is still commanded."""
    return _walking(memory).route.finished


def _walking(memory: Memory) -> Walking:
    mode = memory.modes[Walking.name]
    assert isinstance(mode, Walking)
    return mode


def wanted(command: Command) -> bool:
    """A velocity, and nothing else."""
    return not (_named(command) or command.footsteps) and max(map(abs, command.velocity.tolist())) > SLOW


def _named(command: Command) -> str:
    return command.gait or command.skill or command.stance


def pushed_at_the_start(now: Situation, memory: Memory) -> bool:
    """The DCM leaves the feet while both still stand."""
    mode = memory.mode
    return isinstance(mode, Walking) and mode.phase == SHIFT and memory.margin(now) < 0.0


class Walking(StanceAxes, BalanceMode):
    """Shift the weight; then transfer, swing, transfer, swing, until nothing is commanded and the feet are square."""

    name = "walking"
    sunk = 0.78  # long steps take the body down to ``LOWEST``
    out_of_reach = 0.85  # a foot is on its way already, and more follow: ``Viable`` ends at 0.84 on the human

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        robot, planner, edge = memory.robot, memory.planner, memory.maker.edge
        self.unable = missing(robot)
        self.reach = planner.reach
        self.gait = Gait(robot, self.reach)
        self.route = Route(robot, self.gait)
        half = planner.half_length - edge, planner.half_width - edge
        self.adapter = adapter(planner.policy)(self.reach, *half, self.gait.transfer, self.gait.legs, robot.omega)
        self.handover = Handover(self.gait.transfer, self.adapter.viable, half[0])
        speed = math.sqrt(GRAVITY * robot.com_height)
        self.cycle = StepCycle(robot, DEPTH, TOUCHDOWN * speed, SCUFF)
        self.pace = Pace(speed)
        self.crouch, self.ground = Crouch(robot, self.gait), Ground(robot, memory.ground)
        self.path: Path | None = None  # over known ground
        self.heel, self.toes = Heel(robot, self.gait.legs), Toes(robot, self.gait.legs)
        self.sole = Stance(robot, edge)  # of the stance foot
        self.phase = SHIFT

    def answers(self, command: Command) -> bool:
        return wanted(command) or bool(command.footsteps and not _named(command))

    def refuses(self, command: Command) -> str:
        return self.unable or (self.route.refused if command.footsteps else "")

    def enter(self, now: Situation) -> None:
        """From standing. The first foot is the plan's, that on the side of the command, or the lighter one."""
        super().enter(now)
        left, right = now.state.wrench[:, 2].tolist()
        _, aside, turn = now.command.velocity.tolist()
        wish = aside if abs(aside) > SLOW else turn
        self.side = (0 if wish > 0 else 1) if abs(wish) > SLOW else (0 if left < right else 1)  # that swings
        if self.route.following:
            self.side = self.route.side
        self.phase = SHIFT
        self.began = self.stamp = now.state.stamp  # of the phase; of the last tick [s]
        self.handover.begin()
        self.heading = now.yaw  # where the body should look [rad]
        self.velocity: Velocity = (0.0, 0.0, 0.0)  # that steps aim at
        self.pressure = now.caught  # centre of pressure
        self.plan: Adapted | None = None
        self.last = False  # the step under way ends the walk
        self.crouch.reset(now.state.stamp, now.height)
        self.ground.begin(now)
        self.heel.reset()
        self.dt = 0.0
        self.pace.reset()

    def seen(self, now: Situation) -> Situation:
        """Over the ground that the feet found and will find."""
        return self.ground.seen(now, 1 - self.side, self.phase == SWING, self._ahead(now))

    def _look_at_the_ground(self) -> None:
        """Take in a map, or that there is none any more."""
        heights, treads = self.memory.heights, self.ground.treads
        if heights is not (None if treads is None else treads.map):
            self.ground.treads = self.path = None
            if heights is not None:
                self.ground.treads = Treads(self.memory.robot, heights)
                self.path = Path(self.ground.treads, LONGEST * self.gait.longest)

    def _ahead(self, now: Situation) -> Spot | None:
        """Where the next foot will stand."""
        if self.plan is None:
            return None
        x, y = self._world(now, self.plan.place)
        z = self.ground.below(now, 1 - self.side, x, y)
        return x, y, z - self.cycle.late if self.phase == SWING else z

    # ---- phases ----

    def update(self, now: Situation) -> Reference:
        self._look_at_the_ground()
        self._follow_command(now)
        if self.phase == SHIFT and not self._shifted(now):
            return self._reference(now, footholds=self.route.ahead())
        if self.phase == SWING:
            reference = self._swing(now)
            if reference is not None:
                return reference
        return self._transfer(now)

    def _follow_command(self, now: Situation) -> None:
        self.dt, self.stamp = now.state.stamp - self.stamp, now.state.stamp
        self.route.see(now, None if self.phase == SHIFT else self.side, self.cycle if self.phase == SWING else None)
        planned = self.route.following
        self.going = planned or wanted(now.command)
        x, y, turn = now.command.velocity.tolist()
        self.command = self.gait.limited((x, y, turn)) if self.going and not planned else (0.0, 0.0, 0.0)
        if planned:
            self.command, self.heading = self.route.velocity(now), now.yaw
            if self.phase == SHIFT:
                self.side = self.route.side
        forward, left, turn = self.command
        x, y, _ = self.velocity
        dx, dy = forward - x, left - y
        share = min(1.0, HURRY * GRAVITY * self.dt / max(math.hypot(dx, dy), 1e-9))
        self.velocity = (x + share * dx, y + share * dy, turn)
        self.heading += turn * self.dt

    def _shifted(self, now: Situation) -> bool:
        """Send the DCM toward the stance foot; True when it is where a step begins."""
        polygon = self.memory.stance.update(now.state, BOTH)
        goal = now.centre[1 - self.side]
        if self.route.following:
            goal = polygon.inner.project(*self.route.start(now))
        self.pressure = self.memory.maker.laws.shove(now, polygon, goal).pressure
        if not self.going:
            self.done = "nothing is commanded any more"
        elif now.state.stamp - self.began > PATIENCE:
            self.done = "the weight does not shift"
        start = self.gait.width / (math.exp(now.omega * self.gait.slowest) + 1)
        if self.route.following:
            start = self._local(now, goal)[1]
        if self._local(now, now.caught)[1] > start:
            return False
        self.phase, self.began, self.start = TRANSFER, now.state.stamp, self.pressure
        return True

    def _transfer(self, now: Situation) -> Reference:
        """The centre of pressure goes from where it was to where the next step wants it; then the foot leaves."""
        cx, cy = driven(now, self._stairs)
        bx, by = self.gait.step(self.velocity, 1 - self.side, now.omega, 0.0).offset
        behind = self._local(now, now.centre[self.side])[0] < 0.0
        share = self.handover.update(self.dt, self._local(now, (cx, cy)), (bx, self._axes(now)[2] * by), behind)
        aim = now.centre[1 - self.side] if self.plan is None else self._world(now, self.plan.pressure)
        (ax, ay), (bx, by) = self.start, aim
        self.pressure = x, y = ax + share * (bx - ax), ay + share * (by - ay)
        mx, my = (x + bx) / 2, (y + by) / 2  # mean of what is left of the transfer
        grown = math.exp(now.omega * self.handover.wait)
        usual = self._step_time - self.gait.transfer
        low, high = self.reach.shortest, self._longest_swing
        times = [usual, *(low + (high - low) * k / 6 for k in range(7))]
        plan = self._adapt(now, (mx + (cx - mx) * grown, my + (cy - my) * grown), times, usual)
        light = float(now.state.wrench[self.side, 2]) < LIGHT * self.memory.robot.weight
        if share >= 1.0 or (light and share > 0.5):
            self.phase, self.cycle.side = SWING, self.side
            self.ground.lifted(now, self.side)
            x, y = self._world(now, plan.place)
            over = self.ground.between(now, self.side, x, y, self.target_yaw)
            self.cycle.lift(now, plan.time, self.heel.up, over)
            self.heel.reset()
            self.toes.reset()
            reference = self._swing(now)
            assert reference is not None  # it has just left
            return reference
        load = np.empty(2)
        load[1 - self.side], load[self.side] = 0.2 + 1.6 * share, max(0.02, 1.1 * (1 - share))
        return self._reference(now, load_max=load, footholds=self.route.ahead(), heels=self._heels(now, self.side))

    def _heels(self, now: Situation, side: int) -> Heels:
        """The heel of the foot that carries, or is left behind."""
        self.heel.steep = self._stairs
        heel = self.heel.update(now, side, self.dt)
        return (heel, None) if side == 0 else (None, heel)

    def _swing(self, now: Situation) -> Reference | None:
        """Adapt place and time of the landing; None when the foot is down."""
        cycle = self.cycle
        if self._stairs and cycle.swing is not None:
            self.toes.point(now, self.side, cycle.swing, self.dt)
        contact, load, feet = cycle.update(now)
        if cycle.phase != SWINGING:
            self._landed(now)
            return None
        since, left = cycle.under_way
        times, later = landings(since, left, self.reach.shortest, self._longest_swing)
        usual = max(self._step_time - self.gait.transfer - since, 0.0)
        dcm = driven(now, self._stairs)
        plan, put_off = self._adapt(now, dcm, times, usual), False
        if plan.cost > DIRE and later:
            longer = self._adapt(now, dcm, later, usual)
            put_off = longer.cost < plan.cost
            self.plan = plan = replace(longer, time=left + HASTE) if put_off else plan
        x, y = self._world(now, plan.aim)
        height = normal = None
        if self.path is not None:
            height, tread = self.ground.below(now, 1 - self.side, x, y), self.path.next
            normal = None if tread is None else tread.normal
        cycle.retarget(now, (x, y), self.target_yaw, plan.time, height, normal, put_off)
        px, py = plan.pressure
        heels: Heels = (None, None)
        if self.heel.up or px > FRONT * self.adapter.half[0]:
            heels = self._heels(now, 1 - self.side)
            if self.heel.up:  # the ground pushes on the front edge only
                px = self.memory.planner.half_length
        self.pressure = self._world(now, (px, py))
        footholds = (*cycle.footholds, *self.route.ahead(self.route.leads(self.side)))
        return self._reference(now, contact=contact, load_max=load, feet=feet, footholds=footholds, heels=heels)

    def _landed(self, now: Situation) -> None:
        """Over to the other foot, unless this was the last step and the DCM stays between the feet."""
        stamp, ahead = now.state.stamp, self._ahead(now)
        if ahead is not None:
            self.ground.landed(ahead[2] + self.cycle.late)
        if self.route.following or (self.path is not None and self.path.moved):
            self.pace.reset()
        else:
            self.pace.landed(self.side, stamp, now.com, self.heading, self.velocity)
        self.route.landed(now, self.side)
        if self.last and self.memory.margin(now) > 0.0:
            self.done = "the DCM is between the feet"
        self.side = 1 - self.side
        self.phase, self.began, self.start, self.plan = TRANSFER, stamp, self.pressure, None
        self.handover.begin()

    # ---- the step ----

    def _adapt(self, now: Situation, dcm: Point, times: list[float], usual: float) -> Adapted:
        """The step under way, against the DCM with which its swing begins or goes on."""
        cos, sin, sign = self._axes(now)
        yaw = math.atan2(sin, cos)
        turn = math.remainder(self.heading + self.velocity[2] * usual - yaw, math.tau)
        x, y = self._local(now, dcm)
        step = self._nominal(now, yaw, turn, x * math.exp(now.omega * (times[0] + self.gait.transfer / 2)))
        self.target_yaw = yaw + step.turn
        velocity, crossing = (0.0, 0.0), 0
        if self.phase == SWING and self.plan is not None:
            velocity, crossing = self._along(now, self.cycle.velocity), self.plan.crossing
        foot = Flying(self._local(now, now.centre[self.side]), velocity, math.hypot(*now.com_velocity), crossing)
        body = Pendulum(now.omega, self._local(now, now.com), (x, y), now.height)
        plan = self.adapter.adapt(body, foot, step, sign, times, usual)
        if self.path is not None:
            tread = self.path.kept(self._world(now, plan.place), self.target_yaw)
            if tread is not None:
                place = self._local(now, (tread.x, tread.y))
                plan = replace(plan, place=place, aim=place if plan.aim == plan.place else plan.aim)
        self.plan = plan
        return plan

    def _nominal(self, now: Situation, yaw: float, turn: float, ahead: float) -> Step:
        """What is wanted of the step; ``ahead`` is where the DCM would be at its end, seen from the stance foot.

        ``yaw`` is the stance foot's, ``turn`` what the heading wants of the other one [rad].
        """
        if self.route.leads(self.side):
            self._forget_treads()
            self.last = self.route.ends
            return self.route.step(now, yaw)
        if self.going:
            self.last = False
            (forward, left, rate), (x, y) = self.velocity, self.pace.correction
            return self._stepped(now, (forward + x, left + y, rate), yaw, turn)
        on_stairs = self.phase == SWING and self._stairs  # a foot between two treads goes on to its own
        self.last = not on_stairs and abs(ahead) < ENDS * self.adapter.half[0]
        if self.last:
            self._forget_treads()
            return self.gait.last_step(self.side, turn)
        return self._stepped(now, (0.0, 0.0, 0.0), yaw, turn)

    def _forget_treads(self) -> None:
        if self.path is not None:
            self.path.forget()

    @property
    def _step_time(self) -> float:
        """Of the nominal step [s]."""
        usual = self.gait.step_time(self.velocity)
        return max(self.gait.transfer + self._longest_swing, usual) if self._stairs else usual

    @property
    def _stairs(self) -> bool:
        return self.path is not None and self.path.steep

    @property
    def _longest_swing(self) -> float:
        """How long a foot may be in the air [s]."""
        return max(self.reach.longest, STAIR_SWING / self.memory.robot.omega) if self._stairs else self.reach.longest

    def _stepped(self, now: Situation, velocity: Velocity, yaw: float, turn: float) -> Step:
        """The nominal step, on known ground onto a tread; a foot in the air keeps its own."""
        if self.path is None:
            return self.gait.step(velocity, self.side, now.omega, turn)
        if self.phase == SWING and self.path.step is not None:
            return self.path.step
        time, later = self._step_time, velocity[2] * self._step_time

        def nominal(k: int) -> Step:
            return self.gait.step(velocity, (self.side + k) % 2, now.omega, later if k else turn, time)

        return self.path.choose(now.centre[1 - self.side], yaw, now.omega, nominal, now.centre[self.side])

    def _reference(self, now: Situation, **parts: Any) -> Reference:
        maker = self.memory.maker
        # A turn that is asked for and not made accelerates the CoM all the same: a leg that is thrown over stairs turns
        # the trunk more than anything can hold, and the task of the trunk brings it back between the steps.
        turn = (0.0, 0.0) if self._stairs else maker.laws.righting(now)
        if self.phase == SWING and self.plan is not None and self.plan.lost > 0.0:  # the step alone is not enough
            turn = maker.laws.slow(now, self.sole.update(now.state, (self.side == 1, self.side == 0))).turn
        height = self._height(now)
        wish = Wish(self.pressure, turn)
        return maker.make(
            self.name,
            now,
            wish,
            stack=WALK,
            height=height,
            height_rate=self.crouch.rate,
            momentum_weight=MOMENTUM,
            **parts,
        )

    def _height(self, now: Situation) -> float:
        """Of the CoM above the ground [m]."""
        stamp = now.state.stamp
        body = Pendulum(now.omega, self._local(now, now.com), self._local(now, now.caught), now.height)
        wait = self.handover.wait if self.phase == TRANSFER else 0.0
        return self.crouch.update(stamp, self.velocity, body, self.plan, wait, self.ground.step_up, self._stairs)
