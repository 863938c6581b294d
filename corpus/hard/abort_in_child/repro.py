"""Runs jobs in child processes and passes their end on."""
import os
import signal
import sys


def job(number):
    total = sum(range(number))
    if number > 2:
        os.abort()
    return total


def run(number):
    child = os.fork()
    if child == 0:
        job(number)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def main():
    names = {signal.SIGABRT: "abort"}
    for number in range(5):
        ended = run(number)
        if ended:
            print("job", number, names.get(ended))
            sys.stdout.flush()
            os.kill(os.getpid(), ended)


main()
