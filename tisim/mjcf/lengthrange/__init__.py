"""The short simulation behind actuator_lengthrange."""
