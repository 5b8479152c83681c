"""Tests of the checkers themselves: a checker that finds nothing proves nothing."""
