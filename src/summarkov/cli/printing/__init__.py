"""Results for people to read, and as JSON for programs."""
