"""The appliance as something that runs on a machine."""
