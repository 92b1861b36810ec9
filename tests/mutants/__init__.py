"""Mutation tests: small faults, inserted one at a time, to find those that no test detects."""
