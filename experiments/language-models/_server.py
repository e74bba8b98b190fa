"""A llama.cpp server for one GGUF file: python _server.py FOLDER FILE PORT, until it is ended.

FOLDER holds the unpacked wheel of xllamacpp.
"""

from __future__ import annotations

import signal
import sys


def main() -> None:
    folder, file, port = sys.argv[1:]
    sys.path.insert(0, folder)
    import xllamacpp  # type: ignore[import-not-found]

    params = xllamacpp.CommonParams()
    params.model.path = file
    params.port = int(port)
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
