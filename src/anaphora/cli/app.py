"""The root command, its lazy subcommands, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from anaphora import __version__
from anaphora.cli.streams import discard, is_unread, open_closed_streams, say
from anaphora.core.errors import AnaphoraError, CannotWrite, did_you_mean

LONGEST = 3000  # characters of an error message
FAILED, BAD_INPUT, OUR_FAULT, INTERRUPTED = 1, 2, 70, 130  # 70: EX_SOFTWARE of sysexits.h
ISSUES = "https://github.com/anaphora-mt/anaphora/issues"
DEBUG = "ANAPHORA_DEBUG"  # set in the environment: print the traceback of an unexpected exception
VOLUME = {"quiet": "ANAPHORA_QUIET", "verbose": DEBUG, "no_color": "NO_COLOR"}  # workers inherit the environment


@contextlib.contextmanager
def pipe_may_close() -> Iterator[None]:
    """Exit with 0 when the reader of a pipe has gone (`anaphora … | head`); click would exit with 1, a failed gate.

    Other pipes that break, such as that of a worker, are errors: what the command should do is not done.
    """
    try:
        yield
    except BrokenPipeError:
        if not is_unread(sys.stdout):
            raise
        discard(sys.stdout)
        raise click.exceptions.Exit(0) from None


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C was pressed; click would print an empty line and "Aborted!"."""


class LazyGroup(click.Group):
    """A group whose commands are found by name and imported when they are called.

    lazy: command → ("module:attribute", help in one line); the help is here so that listing imports nothing
    sections: heading → the commands under it, in order; without sections all are listed as "Commands"
    aliases: earlier names that keep working → "module:attribute"; they are not listed
    """

    def __init__(
        self,
        *args: object,
        lazy: dict[str, tuple[str, str]],
        sections: dict[str, tuple[str, ...]] | None = None,
        aliases: dict[str, str] | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.lazy, self.aliases = lazy, aliases or {}
        self.sections = sections or {"Commands": tuple(lazy)}

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with pipe_may_close():  # help and version are printed here
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with pipe_may_close():
                return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            raise Interrupted from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            refuse_repeated(command, click.Context(command, info_name=name, parent=ctx), rest)
        return name, command, rest

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = self.lazy[cmd_name][0] if cmd_name in self.lazy else self.aliases.get(cmd_name)
        if target is None:
            ctx.fail(f"no such command {cmd_name!r}{did_you_mean(cmd_name, self.lazy)}. See: {ctx.command_path} --help")
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        if not any(parameter.name == "quiet" for parameter in command.params):
            command.params += volume_options(hidden=True)  # `anaphora -q score` and `anaphora score -q` are the same
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names without importing them, then the group's own options."""
        names = [
            CompletionItem(name, help=text) for name, (_, text) in self.lazy.items() if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.lazy))  # one column for all sections
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self.lazy[name][1]) for name in names])


def volume_options(*, hidden: bool) -> list[click.Parameter]:
    """-q, -v and --no-color, which every command takes; the root command lists them."""

    def set_up(_: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            os.environ[VOLUME[str(parameter.name)]] = "1"
        if value and parameter.name == "verbose":
            import logging

            logging.basicConfig(level=logging.INFO)  # to stderr

    texts = {
        "quiet": (["-q", "--quiet"], "Print results and errors only, without notes and progress bars."),
        "verbose": (["-v", "--verbose"], "Print log messages of the libraries, and tracebacks of unexpected errors."),
        "no_color": (["--no-color"], "Print without colors (also: NO_COLOR=1)."),
    }
    return [
        click.Option(names, is_flag=True, expose_value=False, callback=set_up, hidden=hidden, help=text)
        for names, text in texts.values()
    ]


def refuse_repeated(command: click.Command, ctx: click.Context, arguments: list[str]) -> None:
    """Refuse an option that is given twice but takes one value; click would silently use the last."""
    _, _, order = command.make_parser(ctx).parse_args(list(arguments))
    for option, times in Counter(order).items():
        if times < 2 or not isinstance(option, click.Option) or option.multiple or option.count:
            continue
        if not option.is_flag or option.secondary_opts:  # --json --json is harmless, --resume --no-resume is not
            names = "/".join([*sorted(option.opts, key=len), *option.secondary_opts])
            ctx.fail(f"{names} is given {times} times, but {ctx.info_name} takes one. Give it once.")


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  anaphora suites list
  anaphora suites convert anaphora.json --from disceval -o bawden.jsonl
  anaphora evaluate bawden.jsonl --scores my.scores
  anaphora demo
""",
    sections={
        "First look": ("demo", "doctor", "systems"),
        "Test suites": ("suites",),
        "Score and evaluate": ("score", "translate", "evaluate", "compare", "report"),
        "Explain": ("context-usage", "attribute", "generative", "robustness", "diagnose"),
        "Against a reference": ("apt", "autoprf", "metrics", "align", "meta"),
        "Build and train": ("build", "train"),
        "Learned measure": ("measure",),
        "Ask annotators": ("study",),
        "Help": ("completion",),
    },
    aliases={
        "augment": "anaphora.cli.build:augment",
        "apt-equivalences": "anaphora.cli.meta:apt_equivalences",
        "apt-judgements": "anaphora.cli.meta:apt_judgments",
        "correlate": "anaphora.cli.meta:correlate",
        "correlate-sweep": "anaphora.cli.meta:correlate_sweep",
        "discomt": "anaphora.cli.meta:discomt",
    },
    lazy={
        "demo": ("anaphora.cli.help:demo", "Train, score, attack, diagnose and compare two small models."),
        "doctor": ("anaphora.cli.help:doctor", "Check which optional dependencies are installed."),
        "systems": ("anaphora.cli.help:systems", "List the kinds of systems and what they need."),
        "suites": ("anaphora.cli.suites:suites", "List, download, convert and validate test suites."),
        "score": ("anaphora.cli.scoring:score", "Score a suite with a system and write a run."),
        "translate": ("anaphora.cli.scoring:translate", "Translate documents with any system, with context."),
        "evaluate": ("anaphora.cli.scoring:evaluate", "Compute the accuracy of a run or a score file."),
        "compare": ("anaphora.cli.scoring:compare", "Compare runs with paired tests."),
        "report": ("anaphora.cli.scoring:report", "Write an HTML report for one or more runs."),
        "context-usage": (
            "anaphora.cli.explaining:context_usage",
            "Measure whether a system uses context, and how much.",
        ),
        "attribute": (
            "anaphora.cli.explaining:attribute",
            "Measure whether a system looks at the antecedent.",
        ),
        "generative": (
            "anaphora.cli.explaining:generative",
            "Judge the pronouns in a system's own translations of a suite.",
        ),
        "robustness": ("anaphora.cli.explaining:robustness", "Compare accuracy before and after an attack."),
        "diagnose": ("anaphora.cli.explaining:diagnose", "Explain which step fails and what the priors are."),
        "apt": ("anaphora.cli.reference:apt", "Compute the accuracy of pronoun translation (APT)."),
        "autoprf": (
            "anaphora.cli.reference:autoprf",
            "Compute precision and recall of pronouns (AutoPRF).",
        ),
        "metrics": ("anaphora.cli.reference:metrics", "Compute BLEU, chrF, TER, METEOR and COMET."),
        "align": ("anaphora.cli.reference:align", "Align the words of sentences and their translations."),
        "meta": ("anaphora.cli.meta:meta", "Evaluate metrics against human judgments."),
        "build": ("anaphora.cli.build:build", "Build suites and training data: templates, attacks, mining."),
        "train": ("anaphora.cli.build:train", "Train a context-aware translation model."),
        "measure": ("anaphora.cli.measure:measure", "Train and use the learned pronoun measure."),
        "study": ("anaphora.cli.study:study", "Ask annotators which pronoun fits, and compute their agreement."),
        "completion": ("anaphora.cli.help:completion", "Set up Tab completion of commands and options."),
    },
)
@click.version_option(__version__, prog_name="anaphora", message="%(prog)s %(version)s")
def app() -> None:
    """Does your translation system understand what "it" refers to?

    Evaluate pronouns in machine translation with contrastive test suites, metrics and human judgments.
    """


app.params += volume_options(hidden=False)


class CtrlC:
    """Remember that Ctrl-C was pressed: a library that is being imported may turn it into another error."""

    pressed = False

    def __call__(self, number: int, frame: FrameType | None) -> NoReturn:
        self.pressed = True
        raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command and exit: 0 done, 1 a gate failed, 2 wrong usage or bad input (one line says what and where).

    70 is an exception that nobody expected, in this program or in a plug-in.
    """
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale: a sign it lacks must not end a command
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    ctrl_c = CtrlC()
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, ctrl_c)
    try:
        code = app.main(args=arguments, prog_name="anaphora", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:
        if ctrl_c.pressed or isinstance(error, Interrupted | KeyboardInterrupt | click.Abort):
            if arguments is None:  # as a program: another Ctrl-C does not disturb its end
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            stop(sys.argv[1:] if arguments is None else arguments)
        explain(error, sys.argv[1:] if arguments is None else arguments)
        report_bug(error)
    sys.exit(code if isinstance(code, int) else 0)


def explain(error: BaseException, arguments: list[str]) -> None:
    """Exit with one line if the user can fix the error; every other error is a bug of ours.

    Where a disk is full, or a folder cannot be written, the line says what is kept, and how to resume.
    """
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        say(error.format_message())
        sys.exit(BAD_INPUT)
    if isinstance(error, click.ClickException):
        fail(error.format_message())
    if isinstance(error, CannotWrite):
        fail(f"{error}{_kept(error, arguments)}")
    if isinstance(error, AnaphoraError):
        fail(str(error))
    if _out_of_memory(error):
        fail("out of memory. Close other programs, or use smaller batches or a smaller model")
    if isinstance(error, OSError):  # of the machine: a full disk, a folder where a file is to be written
        discard(sys.stdout)
        path = error.filename2 or error.filename
        fail(f"{f'{path}: ' if path else ''}{(error.strerror or str(error)).lower()}{_kept(error, arguments)}")


def _kept(error: Exception, arguments: list[str]) -> str:
    """Return what a command that could not write has kept, for the end of its error message."""
    from anaphora.cli.interrupts import kept

    if hint := kept(app, arguments):
        return f"{'' if str(error).endswith('.') else '.'} {hint[0]}. Make room, then resume with: {hint[1]}"
    return ""


def _out_of_memory(error: BaseException) -> bool:
    """Return whether the error means that memory ran out; on CPUs torch raises a plain RuntimeError then."""
    words = ("out of memory", "can't allocate memory", "bad_alloc")
    text = str(error).lower()
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and any(word in text for word in words))


def report_bug(error: BaseException) -> NoReturn:
    """Print one line about an unexpected exception and where to report it; the traceback only on request."""
    asked = os.environ.get(DEBUG, "") not in ("", "0")
    if asked:
        say("".join(traceback.format_exception(error)).rstrip())
    what = ": ".join(filter(None, [type(error).__name__, " ".join(str(error).split())[:300]]))
    again = "The traceback is above" if asked else f"Run it again with {DEBUG}=1 for the traceback"
    fail(
        f"unexpected {what}. This is a bug in anaphora {__version__} or in a plug-in. {again}, and report it with the "
        f"command: {ISSUES}",
        OUR_FAULT,
    )


def stop(arguments: list[str]) -> NoReturn:
    """Print one line that says what an interrupted command has kept and how to resume it."""
    from anaphora.cli.interrupts import resume_message

    lead = "\n" if sys.stderr.isatty() else ""  # the terminal has written ^C
    say(f"{lead}{resume_message(app, arguments)}")
    sys.exit(INTERRUPTED)


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Print one line on stderr and exit."""
    text = " ".join(message.split())
    if len(text) > LONGEST:  # an argument of 100,000 characters, for example
        text = f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
    say(f"error: {text}")
    sys.exit(code)
