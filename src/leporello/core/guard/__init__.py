"""Rules for text that is not to be trusted, not to be kept, or not new: screening, redaction and echoes. All are pure."""
