"""To be run on the board: changes two settings together, again and again, and prints how far it is.

Arguments: a name, the first number, and a key for each setting. A line `NAME begin NUMBER VALUE` comes before a change,
and `NAME end NUMBER STATUS` after it. The values are those of `value`.
"""

import os
import sys

COUNT = 400


def value(number: int) -> str:
    """What both settings are to be: allowed for all of them, and another one for each number."""
    return f"{0.5 + number / 1000:.3f}"


def main(name: str, first: int, *keys: str) -> None:
    """Change them so often that the power goes first."""
    from appliance import cli  # once, for all changes

    for number in range(first, COUNT):
        tell(name, "begin", number, value(number))
        process = os.fork()
        if not process:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            os._exit(cli.main(["config", "set", *(f"{key}={value(number)}" for key in keys)]))
        tell(name, "end", number, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


def tell(*words: object) -> None:
    os.write(sys.stdout.fileno(), f"{' '.join(map(str, words))}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
