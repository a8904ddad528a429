"""What can be tuned in the estimator, with the reason for each default.

Noise figures are one standard deviation of one sample at 1 kHz, as a data sheet or a recording at rest gives them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class BaseSettings:
    """Noise of the floating-base filter."""

    gyro: float = 2e-3  # [rad/s]
    acceleration: float = 0.1  # [m/s²]; twice the sensor's own, for scale and alignment
    doubt: float = 0.2  # all standing soles seem to slip: the velocity may be wrong, more so every second [m/s²]
    impact: float = 0.2  # share of the change between two samples that a 1 kHz accelerometer may miss
    kinematics: float = 3e-4  # position of a sole from the encoders [m]: 1e-4 rad over six joints, and some flex
    foot_rate: float = 1e-2  # angular velocity of a sole from encoder velocities [rad/s]
    anchor: float = 5e-5  # creep of a loaded sole on the ground [m/√s] ...
    light: float = 0.25  # ... and (light / load)⁴ times as much below this share of the weight: it slips and rolls
    stray: float = 0.05  # a sole farther from where it stood did not just creep [m]
    rolling: float = 0.02  # creep of a rolling sole, per rad/s [m/√s]
    gyro_walk: float = 2e-5  # of the gyro bias [rad/s/√s]
    acceleration_walk: float = 2e-4  # of the accelerometer bias [m/s²/√s]
    sole_force: float = 0.02  # accelerometer against sole force, mean of one window [m/s²]: slow sway, sole offsets
    sole_window: float = 0.25  # [s]
    tilt_start: float = 0.01  # roll and pitch from the first sample [rad]
    gyro_bias: float = 5e-3  # spread of the biases before anything is known [rad/s]
    acceleration_bias: float = 0.05  # [m/s²]
    decimation: int = 10  # ticks between two corrections; their parts make four of these ticks longer
    speed_limit: float = 15.0  # beyond, the filter is lost and starts again [m/s]


@dataclass(frozen=True)
class ContactSettings:
    """Thresholds are shares of the body weight: one set fits 35 kg and 95 kg."""

    load_on: float = 0.035  # far above sensor noise (1 N of 343 N is 0.3 %), far below a landing (10 % within 2 ms)
    load_off: float = 0.018  # six sigma of that noise below
    ticks_on: int = 2  # above the threshold for so many samples; one spike is not a landing
    ticks_off: int = 5  # below it; a light foot hops for up to four
    lift_speed: float = 0.025  # a sole that is lifted rises faster than this by then (0.05 and more) [m/s] ...
    ticks_idle: int = 12  # ... and one that does not takes so many samples: it may carry nothing for a while
    landing_time: float = 0.02  # after a landing a sole bounces [s] ...
    bounce_speed: float = 0.15  # ... unless it rises faster than this [m/s] and does not slow down
    slip_speed: float = 0.08  # of the centre of pressure over the ground [m/s]; ten times the encoder noise
    slip_time: float = 0.004  # [s]
    trust_speed: float = 0.04  # a foot that slipped is trusted again below this [m/s] ...
    trust_time: float = 0.03  # ... held for so long [s]
    observer_bandwidth: float = 400.0  # of wrenches from joint torques [rad/s]; a landing shows within 10 ms
    observer_factor: float = 2.5  # on the load thresholds then: such wrenches are off by some per cent of the weight
    flat: float = 0.3  # a sole that turns faster than this does not lie flat: its rate says nothing of the gyro [rad/s]
    turning: float = 0.1  # angular velocity above which a standing sole counts as turning [rad/s]


@dataclass(frozen=True)
class PushObserverSettings:
    """The momentum observer and what counts as a push."""

    bandwidth: float = 60.0  # of the observer [rad/s]; follows a 0.1 s push, keeps 1 % of the velocity noise
    onset: float = 0.04  # horizontal force that starts a push, share of the weight (28 N for 71 kg)
    end: float = 0.02  # and that ends it
    confirm: float = 0.02  # a push changes the velocity of the CoM by at least this [m/s] ...
    sigma: float = 3.0  # ... plus so many standard deviations of the velocity estimate
    jump: float = 0.008  # unexplained change of the CoM velocity that is a push at once [m/s]; its noise is 0.001 ...
    jump_begins: float = 0.003  # ... from where on it grew [m/s] ...
    jump_ticks: int = 2  # ... seen so many samples in a row ...
    jump_longest: float = 0.01  # ... and grown within this time, or it is no jump [s]
    steady: float = 0.1  # both feet must have stood for so long: landings and lift-offs jolt [s]
    silence: float = 0.03  # below ``end`` for so long: it is over [s]
    landing_time: float = 0.04  # after a change of contact [s] ...
    landing_factor: float = 4.0  # ... the onset threshold is so many times higher
    observer_factor: float = 2.5  # on onset, end and confirm when the wrenches come from joint torques
    bias_time: float = 5.0  # time constant with which a steady small residual counts as model error [s]


@dataclass(frozen=True)
class GuardSettings:
    """Plausibility of sensor data."""

    period: float = 1e-3  # nominal [s]
    late: float = 5e-3  # a gap above this is reported [s]
    outage: float = 0.02  # without a usable sample for longer: the state is invalid [s]
    restart: float = 0.1  # a longer gap is not dead-reckoned: the filter resumes, at rest, where it stands [s]
    gyro: float = 60.0  # beyond: not a measurement [rad/s]
    acceleration: float = 400.0  # [m/s²]
    load: float = 30.0  # force on a sole, share of the weight
    position_margin: float = 0.5  # beyond the joint limits [rad]
    velocity_factor: float = 3.0  # of the joint's velocity limit ...
    velocity_margin: float = 6.0  # ... plus this: a blow throws slow joints, too [rad/s]; bounds the position as well
    torque_factor: float = 10.0  # of the joint's torque limit
    frozen_every: int = 8  # ticks between two looks for frozen encoders; three equal readings are suspicious
    frozen_travel: float = 5e-3  # travel the joint reports meanwhile [rad]


@dataclass(frozen=True)
class EstimatorSettings:
    """All settings of the estimator."""

    base: BaseSettings = field(default_factory=BaseSettings)
    contact: ContactSettings = field(default_factory=ContactSettings)
    push: PushObserverSettings = field(default_factory=PushObserverSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)

    def yielding(self) -> EstimatorSettings:
        """For ground that gives way: soles that carry sink, roll and creep by some centimetres per second."""
        base, contact = replace(self.base, anchor=0.01, rolling=0.1), replace(self.contact, flat=0.03)
        return replace(self, base=base, contact=contact)

    @staticmethod
    def at(period: float) -> EstimatorSettings:
        """The defaults, whose counts of ticks are meant at 1 kHz, for frames every ``period`` [s]."""
        usual = EstimatorSettings()

        def ticks(count: int) -> int:
            return max(1, round(count * usual.guard.period / period))

        if period == usual.guard.period:
            return usual
        contact, base, guard = usual.contact, usual.base, usual.guard
        return replace(
            usual,
            base=replace(base, decimation=max(4, ticks(base.decimation))),  # fewer leave no tick for its parts
            contact=replace(
                contact,
                ticks_on=ticks(contact.ticks_on),
                ticks_off=ticks(contact.ticks_off),
                ticks_idle=ticks(contact.ticks_idle),
            ),
            guard=replace(
                guard, period=period, late=max(guard.late, 2.5 * period), frozen_every=ticks(guard.frozen_every)
            ),
        )
