"""tisim.Spec: a model as a tree that can be built, edited, attached, written and compiled."""
