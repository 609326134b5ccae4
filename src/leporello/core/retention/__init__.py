"""Forgetting: what is kept of a record's presentations, the published formulas, and the laws that join the two (`laws`)."""
