"""What people say, per language: hassil sentences, from which an intent is recognised."""
