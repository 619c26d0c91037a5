"""Markdown made from declarations, for the generated parts of `specs/`."""
