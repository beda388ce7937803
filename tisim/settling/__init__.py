"""Scenes that come to rest: until when, who rests on whom, what overlaps at the start."""
