"""A toy job: a step a second, and every ten steps a checkpoint in two files of one step, written in place or renamed.

Its arguments: the megabytes of its state, `place` or `rename`, and `torch` or `bare` for a stand-in without PyTorch. Outside
its results it notes in the home folder: steps (time and step of each), begun (what it began from), writing (while it writes).
"""
import hashlib
import json
import os
import sys
import time

megabytes, way, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3]
home = os.environ["HOME"]
os.makedirs("out", exist_ok=True)
if kind == "torch":
    import io

    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)


def fresh():
    if kind == "bare":
        return {"step": 0, "state": os.urandom(megabytes * 1024 * 1024)}
    model = torch.nn.Linear(256, 256)
    table = torch.rand(megabytes * 256 * 1024)
    return {"step": 0, "model": model.state_dict(), "table": table}


def train(state):
    """Changes a tenth of the state."""
    state["step"] += 1
    if kind == "bare":
        tenth = len(state["state"]) // 10
        at = state["step"] % 10 * tenth
        state["state"] = state["state"][:at] + os.urandom(tenth) + state["state"][at + tenth :]
        return
    model = torch.nn.Linear(256, 256)
    model.load_state_dict(state["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(20):
        optimizer.zero_grad()
        model(torch.rand(64, 256)).pow(2).mean().backward()
        optimizer.step()
    state["model"] = model.state_dict()
    tenth = len(state["table"]) // 10
    at = state["step"] % 10 * tenth
    state["table"][at : at + tenth] += 0.001


def packed(state):
    if kind == "bare":
        return state["step"].to_bytes(8, "big") + state["state"]
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def unpacked(data):
    if kind == "bare":
        return {"step": int.from_bytes(data[:8], "big"), "state": data[8:]}
    return torch.load(io.BytesIO(data))


def put(name, data):
    target = name if way == "place" else name + ".new"
    with open(target, "wb", buffering=0) as file:
        # Slowly enough for a machine to end in the midst of it.
        for at in range(0, len(data), max(1, len(data) // 8)):
            file.write(data[at : at + max(1, len(data) // 8)])
            time.sleep(0.1)
    if target != name:
        os.replace(target, name)


def save(state):
    open(f"{home}/writing", "w").close()
    data = packed(state)
    put("out/state", data)
    put("out/step.json", json.dumps({"step": state["step"], "sha256": hashlib.sha256(data).hexdigest()}).encode())
    os.remove(f"{home}/writing")


def resume():
    """The state that it continues from, and whether that is torn."""
    if not os.path.exists("out/step.json") and not os.path.exists("out/state"):
        return fresh(), False
    try:
        with open("out/state", "rb") as file:
            data = file.read()
        with open("out/step.json", "rb") as file:
            said = json.load(file)
        if hashlib.sha256(data).hexdigest() != said["sha256"]:
            return fresh(), True
        return unpacked(data), False
    except (OSError, ValueError, KeyError):
        return fresh(), True


state, torn = resume()
with open(f"{home}/begun.new", "w") as file:
    json.dump({"at": time.time(), "step": state["step"], "torn": torn}, file)
os.replace(f"{home}/begun.new", f"{home}/begun")
while not os.path.exists(f"{home}/enough"):
    begun = time.time()
    train(state)
    trained = time.time()
    with open(f"{home}/steps", "a") as file:
        file.write(f"{trained:.3f} {state['step']} {trained - begun:.4f}\n")
    if state["step"] % 10 == 0:
        save(state)
    time.sleep(max(0, 1 - (time.time() - begun)))
save(state)
