"""`python -m selica`: the command line, for whoever has no `selica` on the path."""

from selica.cli import main

if __name__ == "__main__":
    main()
