"""Pure rules: no clock, file, network, randomness or database; time is an argument."""
