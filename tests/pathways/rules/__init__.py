"""Tests of `pathways.rules`."""
