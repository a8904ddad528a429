"""The modes of balance, one small class a file."""
