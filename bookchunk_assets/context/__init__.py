"""The prefix that situates a chunk in its book."""
