"""A room to try the appliance in: the same device interfaces over files and time, and its reports."""
