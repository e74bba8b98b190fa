"""A server that speaks like OpenAI's, run as a process of its own: `python fake_openai.py '{"delay": 0.1}'`.

It prints its port, answers with made-up figures that can be checked by hand, and fails as it is told to. What a token
is worth: minus a quarter of its length. It ends by itself after a while, whatever happens to those who started it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DEFAULTS: dict[str, Any] = {
    "port": 0,
    "life": 60,  # seconds
    "delay": 0,  # seconds per request
    "hold": None,  # [pattern, n]: a request that has the pattern waits until n others were answered
    "script": [],  # what happens to the first requests, see `misbehave`
    "always": None,  # what happens to all later ones
    "die_after": None,  # requests
    "without": [],  # what the server does not have, see below
    "rejects": {},  # name of a field in a chat → what is said against it
    "translations": {},  # source → what the model writes
    "letter": None,  # what the model answers when it is to choose; without it the candidate with fewest characters
    "ratings": {},  # candidate → what the model answers when it is to rate it; without it 100 − its characters
    "model": None,  # a folder: a real model instead of made-up figures
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Server

    def setup(self) -> None:
        super().setup()
        self.server.seen["connections"] += 1

    def do_GET(self) -> None:
        self.send(200, {**self.server.seen, "authorization": self.server.authorization, "bodies": self.server.bodies})

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.seen["requests"] += 1
            server.seen["active"] += 1
            server.seen["most"] = max(server.seen["most"], server.seen["active"])
            server.bodies.append(body)
            server.authorization = self.headers.get("Authorization")
            step = server.script.pop(0) if server.script else server.options["always"]
            if server.options["die_after"] is not None and server.seen["requests"] > server.options["die_after"]:
                os._exit(0)
        try:
            time.sleep(server.options["delay"])
            self.hold(body)
            self.misbehave(step) if step else self.send(*answer(server, self.path, body))
        finally:
            with server.lock:
                server.seen["active"] -= 1
                server.seen["answered"] += 1

    def hold(self, body: dict[str, Any]) -> None:
        pattern, others = self.server.options["hold"] or ("(?!)", 0)
        if re.search(pattern, json.dumps(body)):
            while self.server.seen["answered"] < others:
                time.sleep(0.01)

    def misbehave(self, step: str) -> None:
        what, _, value = step.partition(":")
        if what == "cut early":
            self.close_connection = True
        elif what == "cut":
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices": [{"text"')
            self.close_connection = True
        elif what == "json":
            self.send(200, '{"choices": [{"text": "Er')
        elif what == "empty":
            self.send(200, {"error": {"message": "no model is loaded yet"}})
        elif what == "slow":
            time.sleep(float(value))
            self.send(200, {"choices": [{"text": "too late"}]})
        elif what == "quota":
            self.send(429, {"error": {"message": "You have no money.", "code": "insufficient_quota"}})
        else:
            key = (self.server.authorization or "").removeprefix("Bearer ")
            message = {"error": {"message": f"out of\norder, your key is {key}"}}
            self.send(int(what), message, **({"Retry-After": value} if value else {}))

    def send(self, status: int, document: Any, **headers: str) -> None:
        data = (document if isinstance(document, str) else json.dumps(document)).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", options["port"]), Handler)
        self.options, self.script = options, list(options["script"])
        self.seen: Counter[str] = Counter(requests=0, most=0)
        self.bodies: list[dict[str, Any]] = []
        self.authorization: str | None = None
        self.lock = threading.Lock()
        self.model = Model(options["model"]) if options["model"] else None

    def handle_error(self, *args: Any) -> None:  # a client that hangs up is no news here
        pass


def answer(server: Server, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    if body["model"] != "tiny":
        return 404, {"error": {"message": f"The model `{body['model']}` does not exist."}}
    if path.endswith("/v1/chat/completions"):
        return chat(server, body)
    if path.endswith("/v1/completions") and "completions" not in server.options["without"]:
        return completion(server, body)
    return 404, {"detail": "Not Found"}


def completion(server: Server, body: dict[str, Any]) -> tuple[int, Any]:
    """What real servers do with echo and log-probabilities, by what they are `without`:

    echo: refuse it (llama.cpp); telling: give log-probabilities of what is added only (llama.cpp, later)
    max_tokens=0: refuse it (vLLM, at first); prompt_logprobs: do not know it (all but vLLM); usage: say no counts
    spelling: have other names for tokens than their text (SentencePiece's)
    """
    without, text = server.options["without"], body["prompt"]
    if body.get("echo") and "echo" in without:
        return 400, {"error": {"message": "Only no echo is supported"}}
    if body.get("max_tokens") == 0 and "max_tokens=0" in without:
        return 400, {"error": {"message": "max_tokens must be at least 1, got 0."}}
    if len(text) > 2000:
        return 400, {"error": {"message": "This model's maximum context length is 2000 characters."}}
    tokens, logprobs = server.model.read(text) if server.model else made_up(text)
    size = len(tokens)
    # numbers of tokens are the same for the same token
    listed = [
        {str(int.from_bytes(token.encode())): {"logprob": p, "rank": 1}} if p is not None else None
        for token, p in zip(tokens, logprobs, strict=True)
    ]
    source = re.search(r": (.*)\n", text)
    added = server.options["translations"].get(source[1] if source else "", " und")
    if body["max_tokens"]:
        tokens, logprobs = [*tokens, added], [*logprobs, -0.5]
    if "telling" in without:
        tokens, logprobs = tokens[size:], logprobs[size:]
    if "spelling" in without:
        tokens = [token.replace(" ", "▁") for token in tokens]
    offsets = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
    actual: dict[str, Any] = {"tokens": tokens, "token_logprobs": logprobs, "text_offset": offsets}
    choice: dict[str, Any] = {"index": 0, "text": (text if body.get("echo") else "") + added * bool(body["max_tokens"])}
    if "logprobs" in body:
        choice["logprobs"] = actual
    if "prompt_logprobs" in body and "prompt_logprobs" not in without:
        choice["prompt_logprobs"] = listed
    usage = {} if "usage" in without else {"usage": {"prompt_tokens": size, "completion_tokens": body["max_tokens"]}}
    return 200, {"object": "text_completion", "choices": [choice], **usage}


def made_up(text: str) -> tuple[list[str], list[float | None]]:
    tokens = re.findall(r"\s*\w+|\s*[^\w\s]|\s+", text)
    return tokens, [None, *(-len(token) / 4 for token in tokens[1:])]


def chat(server: Server, body: dict[str, Any]) -> tuple[int, Any]:
    for name, message in server.options["rejects"].items():
        if name in body and (name != "top_logprobs" or body[name] > 5):
            return 400, {"error": {"message": message}}
    if "prompt_logprobs" in body and "prompt_logprobs" not in server.options["without"]:
        assert server.model
        return 200, {"choices": [{"message": {"content": "x"}}], "prompt_logprobs": server.model.read_chat(body)}
    asked = body["messages"][-1]["content"]
    rated = re.search(r"^\w+ translation: (.*)$", asked, re.MULTILINE)
    if rated:
        content = server.options["ratings"].get(rated[1], str(100 - len(rated[1])))
        cut = len(content) > 4 * body.get("max_tokens", 16)  # a token has four characters
        return 200, {"choices": [{"message": {"content": content}, "finish_reason": "length" if cut else "stop"}]}
    candidates = re.findall(r"^([A-Z]): (.*)$", asked, re.MULTILINE)
    if not candidates:
        source = asked.rpartition("\n\n")[2]
        content = server.options["translations"].get(source, source.upper())
        return 200, {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    # a model that likes short candidates, and the first place, at which a candidate is worth one more
    worth = {letter: -len(text) / 4 + (letter == "A") for letter, text in candidates}
    content = server.options["letter"] or max(worth, key=lambda letter: worth[letter])
    choice: dict[str, Any] = {"message": {"content": content}, "finish_reason": "stop"}
    if body.get("logprobs") and "top_logprobs" not in server.options["without"]:
        top = [{"token": f" {letter}", "logprob": value} for letter, value in worth.items()]
        choice["logprobs"] = {"content": [{"token": content, "logprob": worth.get(content, 0), "top_logprobs": top}]}
    return 200, {"choices": [choice]}


class Model:
    """A causal language model of Hugging Face's that says how likely a text is."""

    def __init__(self, folder: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)
        self.torch, self.lock = torch, threading.Lock()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def read(self, text: str) -> tuple[list[str], list[float | None]]:
        ids, logprobs = self.logprobs(self.tokenizer(text).input_ids)
        return [self.tokenizer.decode([i]) for i in ids], logprobs

    def read_chat(self, body: dict[str, Any]) -> list[Any]:
        begin = body.get("add_generation_prompt", True)
        text = self.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=begin)
        ids, logprobs = self.logprobs(self.tokenizer(text, add_special_tokens=False).input_ids)
        return [{str(i): {"logprob": p}} if p is not None else None for i, p in zip(ids, logprobs, strict=True)]

    def logprobs(self, ids: list[int]) -> tuple[list[int], list[float | None]]:
        torch = self.torch
        with self.lock, torch.inference_mode():
            values = torch.log_softmax(self.model(torch.tensor([ids])).logits[0], -1)
        return ids, [None, *(values[i - 1, ids[i]].item() for i in range(1, len(ids)))]


def main() -> None:
    server = Server(DEFAULTS | json.loads(sys.argv[1]))
    threading.Timer(server.options["life"], os._exit, [0]).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
