"""Gaits as data: a finite-state machine of poses with balance feedback (SIMBICON), and what learns on it."""
