"""What must have happened in some of many histories, lest they prove nothing. The model counts it when it happens."""

from tests.quests.histories.plans import Act, Call, Ending, Reaction

STAGES = ("init", "run", "close")
CALLS_THAT_WAIT = (Call.ADD_IN_BLOCK, Call.REMOVE, Call.REMOVE_NAME, Call.GET, Call.WAIT)
REMOVALS = {Act.CANCEL, Act.REMOVE, Act.REMOVE_NAME}
REPLACEMENTS = {Act.REPLACE, Act.REPLACE_IN_BLOCK}
DISOBEDIENCE = set(Reaction) - {Reaction.OBEY, Reaction.FAIL}
UNENDING = {Reaction.IGNORE}  # for a close alone


def ends(stage: str, ending: Ending) -> str:
    return f"{stage} ends {ending.value}"


def cancelled(stage: str, reaction: Reaction) -> str:
    return f"{stage}, cancelled: {reaction.value}"


def acts(stage: str, act: Act) -> str:
    return f"{stage}: {act.value}"


def caller_cancelled(call: Call) -> str:
    return f"caller cancelled: {call.value}"


KINDS: dict[str, set[str]] = {
    "make and add": {call.value for call in (Call.MAKE, Call.ADD, Call.ADD_IN_BLOCK, Call.ADD_EARLIER)},
    "remove": {call.value for call in (Call.REMOVE, Call.REMOVE_NAME, Call.CANCEL, Call.DISCARD)},
    "removed": {f"removed: {when}" for when in ("not added", "waiting", "in init", "in run")},
    "replaced": {f"replaced: {when}" for when in ("waiting", "in init", "in run")},
    "refused": {f"refused: {why}" for why in ("QuestRemoved", "ManagerClosed", "ValueError")},
    "get": {
        Call.GET.value,
        *(f"get: {what}" for what in ("the resource", "the resource, early", "QuestRemoved", "what init raised")),
    },
    "wait": {Call.WAIT.value, *(f"wait: {what}" for what in ("no failure", "one failure", "several failures"))},
    "end well": {ends(stage, Ending.WELL) for stage in STAGES},
    "fail": {ends(stage, ending) for stage in ("init", "run") for ending in Ending},
    "hang": {f"{stage} has no end" for stage in ("init", "run")},
    "obey a cancellation": {cancelled(stage, Reaction.OBEY) for stage in STAGES},
    "fail when cancelled": {cancelled(stage, Reaction.FAIL) for stage in STAGES},
    "an init that swallows its cancellation": {cancelled("init", reaction) for reaction in DISOBEDIENCE - UNENDING},
    "a run that swallows its cancellation": {cancelled("run", reaction) for reaction in DISOBEDIENCE - UNENDING},
    "a close that swallows its cancellation": {cancelled("close", reaction) for reaction in DISOBEDIENCE},
    "cancelled again": {f"{stage}, cancelled again" for stage in STAGES},
    "a close that fails": {ends("close", ending) for ending in (Ending.FAILS, Ending.CANCELS)},
    "a close that hangs": {"close has no end", "close, left to itself"},
    "removes itself": {acts(stage, act) for stage in STAGES for act in REMOVALS},
    "replaces itself": {acts(stage, act) for stage in STAGES for act in REPLACEMENTS},
    "removes another": {acts(stage, Act.REMOVE_OTHER) for stage in STAGES},
    "a caller is cancelled": {caller_cancelled(call) for call in CALLS_THAT_WAIT},
    "an exit is cancelled": {"exit, cancelled", "exit, cancelled again"},
}

CORNERS = set[str]().union(*KINDS.values())
