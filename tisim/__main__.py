"""python -m tisim: the command line."""

from tisim.cli import main

if __name__ == "__main__":
    main()
