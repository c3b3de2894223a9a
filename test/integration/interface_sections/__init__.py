"""The interface, part by part: each module's `run` drives a service through one part of section 4."""
