"""From boxes to the contact list."""
