# SPDX-License-Identifier: BSD-3-Clause
"""`a2a screen`: which of many settings matters."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from a2aperf import baselines, filters, output, style, terminal
from a2aperf.commands.options import Where
from a2aperf.errors import InputError
from a2aperf.labels import list_text
from a2aperf.percent import share
from a2aperf.results import Results
from a2aperf.screening import (
    catalogue,
    choosing,
    failures,
    figure,
    folder,
    further,
    outcome,
    outcome_json,
    planned,
    rounds,
    trial,
)
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.costing import Cost
from a2aperf.screening.plan import LABEL, Plan
from a2aperf.screening.trial import Trial
from a2aperf.studies import screened, study
from a2aperf.visible import json_visible

EXAMPLES = """\
a2a screen --list                                    the providers whose settings are known
a2a screen --list --provider psm2                    the settings of one of them
a2a screen --provider psm2 --seconds 60              what would be launched: a dry run
a2a screen --provider psm2 -o screen.json            the plan, for a driver of launches
a2a screen results/ --plan screen.json               what came out
a2a screen results/ --plan screen.json --plot effects.pdf
a2a screen results/ --confirm                        the launches that confirm what is left
"""
_FIGURES: Final = (".png", ".svg", ".pdf")
_YEAR: Final = 365 * 86400.0
_SPREAD: Final = "2%"
_UNITS: Final = {"s": 1, "min": 60, "h": 3600}


def run(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="[FILE|FOLDER]…", help="Results of the launches of a plan."),
    ] = [],  # noqa: B006
    listed: Annotated[
        bool, typer.Option("--list", help="Show what is known of settings, and leave.")
    ] = False,
    provider: Annotated[
        str, typer.Option(metavar="NAME", help="Make a plan for it: psm2, 'tcp;ofi_rxm', shm…")
    ] = "",
    tried: Annotated[
        list[str],
        typer.Option(
            "--try",
            metavar="NAME[=VALUE]",
            help="Screen these only. With a value it may be any variable. Default: all settings of "
            "the provider that are not dangerous, as far as they go together.",
        ),
    ] = [],  # noqa: B006
    without: Annotated[
        list[str], typer.Option(metavar="NAME", help="Leave a setting at its default.")
    ] = [],  # noqa: B006
    fix: Annotated[
        list[str],
        typer.Option(metavar="NAME=VALUE", help="Set it in all launches, and screen the rest."),
    ] = [],  # noqa: B006
    own: Annotated[
        list[Path],
        typer.Option("--catalogue", metavar="FILE", help="Settings of your own: a TOML file."),
    ] = [],  # noqa: B006
    libfabric: Annotated[
        str,
        typer.Option(metavar="VERSION", help="Leave out what came after it: 1.17."),
    ] = "",
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Refuse a plan that takes longer: 90min, 2h.")
    ] = "",
    seconds: Annotated[
        float, typer.Option(metavar="S", help="What a launch takes, start included.")
    ] = 0.0,
    spread: Annotated[
        str, typer.Option(metavar="SHARE", help="By how much launches differ, for the dry run.")
    ] = _SPREAD,
    no_confirm: Annotated[
        bool,
        typer.Option(
            "--no-confirm", help="Costs and --budget: of the screening, without a confirmation."
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Random seed. Default: drawn, and recorded."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the plan (.json)."),
    ] = None,
    plan_file: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="The plan of these launches. Default: screen.json in the folder.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the effects: .png, .svg or .pdf.")
    ] = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm",
            help="Plan what comes next, beside the plan: another round (screen-2.json) where a "
            "setting dominates, further values one at a time (values.json), or the launches that "
            "confirm what is left (confirm.json).",
        ),
    ] = False,
    where: Where = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="JSON, all figures.")] = False,
) -> None:
    """Find out which of many settings matters, in one go of launches.

    With --provider: a plan, in which each launch has about half of the settings, so that every
    launch tells something of each. It shows what would be launched, and writes it with -o.

    With files: the effects of the settings by least squares, in bands of message sizes, with an
    error of 5 % for all of them together; which settings interact; what is not beyond chance, and
    how large an effect is excluded there. What is beyond chance is a candidate for launches of its
    own, and no gain yet. Where a setting dominates --confirm fixes it at its better value and
    plans another round of the rest, if --budget, with --seconds, has room for it; then launches of
    further values of settings that matter, and of settings that conflict with one of the rounds,
    each in turn with the best line so far; then the confirmation, with the default, each candidate
    and all of them together, and where these are among the files what they say ends in the line to
    recommend.
    """
    planning = {"--try": tried, "--without": without, "--fix": fix, "--output": out,
                "--budget": budget, "--seconds": seconds, "--libfabric": libfabric,
                "--no-confirm": no_confirm}  # fmt: skip
    judging = {"--plan": plan_file, "--plot": plot, "--where": where, "--confirm": confirm}
    if files:
        planning |= {"--seed": seed is not None, "--spread": spread != _SPREAD}
        if confirm:  # these say what there is time for
            planning = {x: y for x, y in planning.items() if x not in ("--budget", "--seconds")}
            if budget and not seconds:
                raise InputError("--budget: give --seconds, too: what a launch takes")
        _refuse("files", {**planning, "--provider": provider, "--list": listed, "--catalogue": own})
        chosen = plan_file or folder.plan_beside(files)
        if confirm:
            _refuse("--confirm", {"--plot": plot, "--json": as_json})
            terminal.say(*_confirm(files, chosen, where, seconds, _time(budget)))
        else:
            _judge(files, chosen, where, plot, as_json)
        return
    _refuse("no files", judging)
    if listed:
        _refuse("--list", planning)
        _list(provider, own, as_json)
        return
    if not provider:
        raise InputError("give files, --provider NAME for a plan, or --list")
    wanted = Wanted(
        provider,
        tried,
        without,
        _assignments(fix),
        _version(libfabric),
        _time(budget),
        seconds,
        not no_confirm,
    )
    if not 0 <= seconds <= _YEAR:
        raise InputError(f"--seconds {seconds:g}: expected a time such as 60")
    if out:
        output.require_suffix(out, (".json",), "a plan")
    number = secrets.randbits(31) if seed is None else seed
    made = choosing.make(catalogue.of(provider, own), wanted, number)
    told = made.as_json().rstrip() if as_json else None
    if told is None:
        cost = Cost(seconds, confirms=not no_confirm)
        terminal.say(*planned.lines(made, share("--spread", spread, _SPREAD), cost))
    else:
        terminal.say_text(told)
    if out:
        output.replace(out, made.as_json().encode())


def _refuse(given: str, others: Mapping[str, object]) -> None:
    """InputError where an option is given that belongs to another use of the command."""
    wrong = [name for name, value in others.items() if value]
    if wrong:
        raise InputError(f"{list_text(wrong)} with {given}: choose one (see 'a2a screen --help')")


def _list(provider: str, own: Sequence[Path], as_json: bool) -> None:
    if not provider and not own:
        known = {name: catalogue.of(name) for name in catalogue.providers()}
        if as_json:
            terminal.say_text(_json({name: [asdict(x) for x in of] for name, of in known.items()}))
        else:
            width = max(map(len, known))
            terminal.say(*(f"{name:{width}}  {len(of):3} settings" for name, of in known.items()))
        return
    settings = catalogue.of(provider, own)
    if as_json:
        terminal.say_text(_json([asdict(one) for one in settings]))
    else:
        terminal.say(*planned.catalogue_lines(settings))


def _json(document: object) -> str:
    return json_visible(json.dumps(document, indent=1, ensure_ascii=False))


def _judge(
    files: Sequence[Path], path: Path, where: Sequence[str], plot: Path | None, as_json: bool
) -> None:
    if plot:
        output.require_suffix(plot, _FIGURES, "a figure", "--plot")
    plans = rounds.read(path)
    trials = trial.of(plans[-1], path), trial.values_of(plans[-1], path)
    there = baselines.files_of(files)
    found = filters.where(baselines.load(files, there), where)
    made = outcome.so_far(found, plans, *trials)
    failed = failures.of_rounds(plans, study.concerned(there))
    if plot:
        _draw(made, plot)
    if as_json:
        terminal.say_text(outcome_json.as_json(made, failed))
    else:
        terminal.say(*outcome.lines(made, failed))


def _confirm(
    files: Sequence[Path], path: Path, where: Sequence[str], seconds: float, limit: float
) -> list[str]:
    """Plans what comes next, unless it is planned already; what it is, in words.

    That is another round where a setting dominates, then further values, then the confirmation:
    the first two as far as they fit into the time `limit`, in s.
    """
    plans = rounds.read(path)
    made, tried = trial.of(plans[-1], path), trial.values_of(plans[-1], path)
    if added := screened.complete(path, plans, tried, made):
        return [f"{added} launches that are planned already are still to come"]
    why: list[str] = []
    if made is None:
        found = filters.where(baselines.load(files, baselines.files_of(files)), where)
        if len(plans) > 1 and not _labels(found) & set(plans[-1].labels):
            return [f"{rounds.named(path, len(plans))}: its {plans[-1].design.launches} launches "
                    "are still to be made"]  # fmt: skip
        if still := _of_round_to_come(found, plans, path):
            return still
        if tried and (left := _to_come(found, plans, tried)):
            still = [f"{left} of them are still to come"] if left < tried.launches else []
            return [further.told(tried), *still]
        judged = outcome.judge(found, plans[-1], None, plans[:-1], tried)
        if tried is None:
            why, is_planned = _before_confirming(path, plans, judged, seconds, limit)
            if is_planned:
                return why
        why += judged.pending
        made = trial.make(plans[-1], judged.candidates, plans[0].fixed)
        if made is None:
            return [*why, "nothing is left to be confirmed"]
        screened.add(path, plans, made)
    elif _are_there(files, made):
        return [f"all {made.launches} launches of the confirmation ({trial.NAME}) are there: "
                "'a2a screen' without --confirm shows what they say"]  # fmt: skip
    settings = list_text(made.settings, 8)
    return [*why, f"to be confirmed by {made.launches} launches ({trial.NAME}): {settings}"]


def _are_there(files: Sequence[Path], made: Trial) -> bool:
    """Whether each launch of a trial has a file among these."""
    try:
        found = baselines.load(files, baselines.files_of(files))
    except InputError:  # there is none, or none that can be read
        return False
    return set(made.labels) <= _labels(found)


def _of_round_to_come(found: Results, plans: Sequence[Plan], path: Path) -> list[str]:
    """Launches of the last round that its job still makes: what comes next is planned once."""
    left = _still_made(found, plans[:-1], plans[-1].labels)
    if not left:
        return []
    which = rounds.named(path, len(plans)) if len(plans) > 1 else f"screening ({path.name})"
    return [f"{which}: {left} of its {plans[-1].design.launches} launches are still to come; "
            "'a2a screen' without --confirm shows what those say that are there"]  # fmt: skip


def _to_come(found: Results, plans: Sequence[Plan], tried: Trial) -> int:
    """Launches of further values that are waited for: all where none is there."""
    if not _labels(found) & set(tried.labels):
        return tried.launches
    return _still_made(found, plans, tried.labels)


def _still_made(found: Results, before: Sequence[Plan], labels: Sequence[str]) -> int:
    """Launches with these labels, which follow those of plans, that their job still makes."""
    first = sum(one.design.launches for one in before)
    return failures.to_come(labels, study.concerned(found.files.values()), first, _labels(found))


def _labels(found: Results) -> set[str]:
    return {launch.labels.get(LABEL, "") for launch in found.launches.values()}


def _before_confirming(
    path: Path, plans: Sequence[Plan], judged: outcome.Outcome, seconds: float, limit: float
) -> tuple[list[str], bool]:
    """Plans another round, or further values; in words, and whether any is planned."""
    again = rounds.following(judged)
    too_long = rounds.too_long(again, seconds, limit) if again else ""
    if again and not too_long:
        screened.follow(path, [*plans, again])
        return [f"{rounds.named(path, len(plans) + 1)}: {rounds.told(judged, again)}"], True
    tried, no_room = further.planned(judged, seconds, limit)
    told = [one for one in (too_long, no_room) if one]
    if tried is None:
        return told, False
    screened.add_values(path, plans, tried)
    return [*told, further.told(tried)], True


def _draw(made: outcome.Outcome, path: Path) -> None:
    from a2aperf import drawing  # matplotlib takes a while, and most uses draw nothing

    page = drawing.draw(figure.figure(made), style.PAGE_WIDTH)
    drawing.write(page, path)


def _assignments(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, is_given, value = text.partition("=")
        if not (name and is_given and value):
            raise InputError(f"--fix {text}: expected NAME=VALUE")
        if name in found:
            raise InputError(f"--fix {name} is given twice")
        found[name] = value
    return found


def _time(text: str) -> float:
    matched = re.fullmatch(r"(\d+(?:\.\d+)?) ?(s|min|h)", text)
    if text and not (matched and float(matched[1]) > 0):
        raise InputError(f"--budget {text}: expected a time such as 90min or 2h")
    return float(matched[1]) * _UNITS[matched[2]] if matched else 0.0


def _version(text: str) -> str:
    if text and not re.fullmatch(r"\d+\.\d+(\..*)?", text):
        raise InputError(f"--libfabric {text}: expected a version such as 1.17")
    return text
