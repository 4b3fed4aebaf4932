"""One file per command: its arguments, the call of the library, and what is printed of the result."""
