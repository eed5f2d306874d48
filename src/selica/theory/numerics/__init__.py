"""Methods of solution that the equations of several rooms share."""
