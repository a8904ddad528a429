"""``ros2 launch FILE name:=value ...`` where there is no ros2 command."""

import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

file, *arguments = sys.argv[1:]
service = LaunchService()
given = [tuple(argument.split(":=", 1)) for argument in arguments]
source = PythonLaunchDescriptionSource(file)
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source, launch_arguments=given)]))
sys.exit(service.run())
