"""Tests of `pathways.manifests`."""
