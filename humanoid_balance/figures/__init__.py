"""Runs made visible: plots, videos, reports."""
