"""What is constant: mjModel's arrays, their names and files, and their copies on the device."""
