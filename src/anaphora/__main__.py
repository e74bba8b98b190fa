"""`python -m anaphora` is the same program as `anaphora`."""

from anaphora.cli import main

if __name__ == "__main__":
    main()
