"""What the tests share: both engines on one model, random models and states, golden hashes."""
