"""Tests of the plugin and of the exporter: ``python -m unittest discover -s tests -t .``."""
