"""Trees that sleep: who is awake, who wakes, who falls asleep."""
