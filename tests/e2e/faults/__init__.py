"""What the scenarios of faults share: a small stack, and the recoveries of the runbook as commands."""
