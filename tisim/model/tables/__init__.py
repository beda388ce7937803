"""Tables made from a model's arrays, which only the engine needs."""
