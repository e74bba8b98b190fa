"""The fuzzer: every reader of files, every command that takes one, every answer of a server, with damaged inputs."""
