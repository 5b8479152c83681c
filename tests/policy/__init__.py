"""The rules, the waivers, the command, the pack and the scan."""
