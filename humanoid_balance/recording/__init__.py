"""What happened, kept: the record of a run, logs as MCAP files of standard messages, replay."""
