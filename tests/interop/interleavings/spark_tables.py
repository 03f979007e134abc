"""Spark tables."""
