"""What keeps an export from being made, in words for the user."""


class ExportError(Exception):
    """Names what is unknown or missing, and where."""
