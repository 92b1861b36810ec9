"""The Consistency page: what is asked, what was found, and how it is shown."""
