"""Tests of `pathways.settings`."""
