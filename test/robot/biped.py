"""A biped of capsules and boxes in MJCF, and its YAML."""


def leg(side: str, sign: int) -> str:
    return f"""
      <body name="{side}_thigh" pos="0 {sign * 0.1} -0.1">
        <joint name="{side}_hip_yaw" axis="0 0 1" range="-0.5 0.5"/>
        <joint name="{side}_hip_roll" axis="1 0 0" range="-0.5 0.5"/>
        <joint name="{side}_hip_pitch" axis="0 1 0" range="-1.5 1.5"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05" mass="5"/>
        <body name="{side}_shank" pos="0 0 -0.4">
          <joint name="{side}_knee" axis="0 1 0" range="-0.1 2.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04" mass="3"/>
          <body name="{side}_foot" pos="0 0 -0.45">
            <joint name="{side}_ankle_pitch" axis="0 1 0" pos="0 0 0.05" range="-1 1"/>
            <joint name="{side}_ankle_roll" axis="1 0 0" pos="0 0 0.05" range="-0.5 0.5"/>
            <geom type="box" size="0.1 0.05 0.02" pos="0.03 0 -0.02" mass="1"/>
          </body>
        </body>
      </body>"""


JOINTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
BIPED = f"""
<mujoco>
  <compiler angle="radian"/>
  <default><joint armature="0.02" damping="0.3" frictionloss="0.1"/><motor ctrlrange="-150 150"/></default>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="pelvis" pos="0 0 1">
      <freejoint/>
      <site name="imu" pos="0.02 0 0.1"/>
      <geom type="box" size="0.1 0.15 0.25" pos="0 0 0.15" mass="25"/>
      {leg("left", 1)}{leg("right", -1)}
    </body>
  </worldbody>
  <actuator>{"".join(f'<motor joint="{s}_{j}"/>' for s in ("left", "right") for j in JOINTS)}</actuator>
</mujoco>
"""
BIPED_YAML = """
mjcf: biped.xml
torso: pelvis
imu: imu
feet:
  left: {frame: left_foot, x: [-0.07, 0.13], y: [-0.05, 0.05], z: -0.04}
  right: {frame: right_foot, x: [-0.07, 0.13], y: [-0.05, 0.05], z: -0.04}
posture: {"*_hip_pitch": -0.3, "*_knee": 0.6, "*_ankle_pitch": -0.3}
joints: {"*": {velocity: 15}}
"""
