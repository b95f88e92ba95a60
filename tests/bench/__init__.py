"""Benchmarks: run by hand, compared as ratios within one run, never asserted in CI."""
