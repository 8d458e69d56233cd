"""What the appliance can do by itself, a module each."""
