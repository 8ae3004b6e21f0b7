"""`python -m cocite`: the same as the command `cocite`."""

from cocite.cli import main

if __name__ == "__main__":
    main()
