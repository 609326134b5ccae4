"""The flows: each takes the ports as arguments, asks them for data and `core` for decisions."""
