"""Independent entries: the equations of the article, and how they are solved."""
