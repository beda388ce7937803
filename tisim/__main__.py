"""python -m tisim: the command line."""

from tisim.cli.app import main

if __name__ == "__main__":
    main()
