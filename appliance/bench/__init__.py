"""Measurements of the appliance, made where it runs; each says how it was made."""
