"""One file per command, or per few that belong together: arguments, the call, and what is printed of it."""
