# Reads how many calls it is to make, makes them, and says what came back.
from wharf import state_get


def run(task):
    key = "k" * 90
    last = ""
    for _ in range(int(task.text)):
        last = state_get(key=key)["value"]
    return last
