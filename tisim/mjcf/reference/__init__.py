"""What follows from the reference pose."""
