"""What an agent loop sends and when it folds: pure rules on what is known of the session, the window and the provider."""
