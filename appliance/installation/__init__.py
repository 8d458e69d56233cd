"""Installing, upgrading and removing the appliance: what install.sh does beyond packages. Standard library only."""
