#!/usr/bin/env python3
"""Lay out a bug as observation, hypotheses, experiments, evidence and conclusion.

Prints one JSON object: the worksheet as Markdown, and its parts as fields.
"""

import argparse
import json
import re
import sys

MAX_TITLE = 80
MAX_HYPOTHESES = 20
MAX_PROMPTS = 7
MAX_RIVALS = 3

# One entry per kind of cause. The first five are asked about every bug; the
# others only where a word of the report points at them.
#   signs:     words that point here
#   question:  the prompt, when nobody has a hypothesis yet
#   falsifier: what would show that this kind of cause is not it
#   experiment: the cheapest test, changing one thing
CAUSES = {
    "recent change": {
        "signs": r"since|after (?:the |an? )?(?:upgrade|update|deploy\w*|release|merge|refactor\w*|change)|upgrad\w+|"
                 r"deploy\w*|regress\w*|used to work|worked before|no longer|new version|commit|merged?|refactor\w*",
        "question": "Did a change to the code, its dependencies or its configuration introduce this?",
        "falsifier": "The last version known to be good shows the same failure under the same conditions.",
        "experiment": "Run the same reproduction on the last known good version; if it passes, bisect between the two.",
    },
    "input or boundary": {
        "signs": r"empty|null|none|zero|negative|unicode|utf-?8|encod\w+|pars\w+|index|off.by.one|overflow|large|long|"
                 r"boundary|limit|length|keyerror|valueerror|indexerror|typeerror|nan|missing field|malformed|invalid",
        "question": "Does it depend on particular input: empty, very large, at a limit, or in an unusual encoding?",
        "falsifier": "An input known to be good fails just the same under otherwise equal conditions.",
        "experiment": "Shrink the failing input until it passes; the last thing removed is what matters. "
                      "Then try its neighbours: empty, one, limit - 1, limit, limit + 1.",
    },
    "environment": {
        "signs": r"only (?:on|in)|works on my machine|locally|production|staging|\bci\b|docker|container|windows|linux|"
                 r"mac ?os|arm64|environment|env var\w*|config\w*|permission\w*|path|locale|version|install\w*",
        "question": "Does it happen only in one environment: machine, version, configuration, permissions?",
        "falsifier": "The failure appears in a second environment that differs in the suspected respect.",
        "experiment": "List what differs between a failing and a working environment; carry over one difference at a time.",
    },
    "concurrency": {
        "signs": r"sometimes|intermittent\w*|random\w*|flak\w+|race|thread\w*|async\w*|parallel\w*|concurren\w+|deadlock\w*|"
                 r"lock\w*|hang\w*|stuck|under load|simultaneous\w*|at the same time|once in a while|occasional\w*|"
                 r"non-?determin\w+",
        "question": "Do two things happen at once or in an unexpected order?",
        "falsifier": "It fails just as often with one worker, one thread and one request at a time.",
        "experiment": "Run it 100 times strictly one after another and 100 times in parallel; compare the failure rates.",
    },
    "state": {
        "signs": r"cach\w+|stale|restart\w*|second time|first time|again|leftover|session|global|reset|order of (?:the )?tests|"
                 r"test order|migrat\w+|corrupt\w*|database|\bdb\b|duplicate\w*|already exists",
        "question": "Does it depend on what happened before: caches, stored data, a previous run, shared objects?",
        "falsifier": "It fails on the very first run from a clean state.",
        "experiment": "Run it from a clean state (new process, empty cache, fresh data), then a second time without cleaning.",
    },
    "resources": {
        "signs": r"memory|oom|leak\w*|slow\w*|cpu|disk|file descriptors?|too many open|performance|killed|grows|exhaust\w*",
        "question": "Is a resource running out: memory, disk, handles, connections, time?",
        "falsifier": "The resource stays flat and far from its limit up to the moment of failure.",
        "experiment": "Record the resource while reproducing, then halve its limit: the failure must come sooner.",
    },
    "remote service": {
        "signs": r"network|time-?outs?|timed out|connection|dns|http|api|5\d\d|429|socket|tls|ssl|certificate|proxy|"
                 r"upstream|retr(?:y|ies)",
        "question": "Does something outside the program fail or answer differently than expected?",
        "falsifier": "The failure remains when the service is replaced by recorded good answers.",
        "experiment": "Replay a recorded good answer instead of the real call, then a recorded bad one.",
    },
    "time": {
        "signs": r"midnight|time ?zones?|utc|dst|daylight|date\w*|month|leap|clock|expir\w+|tomorrow|yesterday",
        "question": "Does it depend on the clock: time zone, midnight, month end, expiry?",
        "falsifier": "With the clock set to a harmless moment it still fails.",
        "experiment": "Set the clock (or the injected time) to just before and just after the suspected moment.",
    },
    "measurement": {
        "signs": r"log\w*|metric\w*|monitor\w*|dashboard|alert\w*|report(?:s|ed|ing)?|mock\w*|assert\w*",
        "question": "Is the observation itself right: the log, the test, the build that is really running?",
        "falsifier": "A second, independent way of observing shows the same failure.",
        "experiment": "Prove that the code you read is the code that runs (print a unique marker), "
                      "and observe the result in a second way.",
    },
}
ALWAYS = tuple(CAUSES)[:5]

GENERIC = {
    "falsifier": "Name a result that could not occur if this were true, then look for that result.",
    "experiment": "Switch off or fix only this suspected cause, change nothing else, and repeat the reproduction.",
}

# What a report should say. Wording varies, so an absence is put as a question.
FACTS = (
    ("how to reproduce it", r"steps|reproduc\w+|repro|when(?:ever)?|by (?:running|calling|clicking)|run(?:s|ning)?|call\w*|click\w*",
     "What is the shortest sequence of steps that shows it?"),
    ("what was expected instead", r"expect\w*|should(?:n't)?|instead|supposed|must",
     "What exactly should have happened?"),
    ("the exact error or wrong output", r"error\w*|exception\w*|traceback|panic\w*|exit (?:code|status)|status \d+|returns?|"
     r"prints?|shows?|\w+Error|crash\w*|segfault|got",
     "What is the complete message or wrong value, copied rather than retold?"),
    ("how often it happens", r"always|every|sometimes|intermittent\w*|random\w*|once|never|often|occasional\w*|flak\w+|"
     r"\d+ ?%|\d+ (?:of|out of|times|in) ",
     "Does it fail every time? If not, in how many of 20 tries?"),
    ("since when it happens", r"since|after|before|yesterday|today|last (?:week|month|night)|used to|no longer|"
     r"upgrad\w+|deploy\w*|first (?:seen|noticed)|regress\w*",
     "When did it last work, and what changed between?"),
    ("versions and environment", r"v?\d+\.\d+|version|python|node|linux|windows|mac ?os|docker|container|production|staging|\bci\b",
     "Which versions, system and configuration?"),
)

VAGUE = re.compile(r"\b(?:something|somehow|somewhere|weird|strange|broken|bug|bad|issues?|problems?|magic|glitch)\b", re.I)


def main():
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--bug_description", required=True, help="what was observed")
    parser.add_argument("--context", default="", help="system, versions, what was already tried")
    parser.add_argument("--hypotheses", type=statements, default=[], help="suspected causes, separated by commas or line ends, or a JSON array")
    options = parser.parse_args()
    description, context = clean(options.bug_description), clean(options.context)
    if not description:
        parser.error("argument --bug_description: is empty; say what happened and what was expected")
    if len(options.hypotheses) > MAX_HYPOTHESES:
        parser.error(f"argument --hypotheses: give at most {MAX_HYPOTHESES}; keep the ones worth testing first")
    text = json.dumps(build(description, context, options.hypotheses), ensure_ascii=False, indent=1)
    # Written as bytes: the locale of a bare container may not be UTF-8.
    sys.stdout.buffer.write(text.encode("utf-8") + b"\n")


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        sys.stderr.write(f"error: {message}\n")
        sys.exit(2)


def statements(text):
    """Hypotheses from a JSON array of strings, from lines, or from one line with
    commas: trimmed, blanks and repeats dropped."""
    text = text.strip()
    if text.startswith("["):
        try:
            values = json.loads(text)
        except ValueError:
            values = [None]
        if not all(isinstance(value, str) for value in values):
            raise argparse.ArgumentTypeError('must be a JSON array of strings such as ["the cache is stale"]')
    else:
        values = [v.strip() for v in re.split(r"[\r\n]+" if re.search(r"[\r\n]", text) else ",", text)]
    kept = {}
    for value in map(clean, values):
        if value:
            kept.setdefault(" ".join(value.lower().split()), value)
    return list(kept.values())


def clean(text):
    """Pasted text without terminal colours, control characters and stray bytes."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)
    # The last two ranges change the direction of text: what is read would
    # not be what is written.
    text = re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)
    return text.strip("\n").rstrip() if text.strip() else ""


def build(description, context, given):
    said = description + "\n" + context
    if given:
        hypotheses = [from_statement(text) for text in given]
        covered = {h["cause"] for h in hypotheses}
        rivals = [{"cause": cause, "question": CAUSES[cause]["question"]}
                  for cause in ranked(said) if cause not in covered][:MAX_RIVALS]
    else:
        hypotheses, rivals = [from_cause(cause, said) for cause in prompts(said)], []
    for number, hypothesis in enumerate(hypotheses, 1):
        hypothesis.update(id=f"H{number}", experiment_id=f"E{number}", status="open")
    unknowns = [{"about": about, "question": question}
                for about, signs, question in FACTS if not match(signs, said)]
    result = {
        "title": title_of(description),
        "observation": {"description": description, "context": context},
        "hypotheses_are": "given" if given else "prompts",
        "hypotheses": [ordered(hypothesis) for hypothesis in hypotheses],
        "experiments": [
            {"id": h["experiment_id"], "tests": h["id"], "do": h["experiment"],
             "falsified_if": h["falsified_by"], "result": None}
            for h in hypotheses
        ],
        "alternatives_to_consider": rivals,
        "unknowns": unknowns,
        "next_steps": next_steps(bool(given), len(hypotheses), unknowns),
    }
    result["worksheet"] = markdown(result)
    return result


def match(signs, text):
    return re.search(rf"(?<![\w-])(?:{signs})(?!\w)", text, re.I)


def ranked(text):
    """Causes that the text points at, then the ones always worth asking."""
    pointed = [cause for cause, facts in CAUSES.items() if match(facts["signs"], text)]
    return pointed + [cause for cause in ALWAYS if cause not in pointed]


def prompts(text):
    """The standing causes and the special ones pointed at, likeliest first."""
    causes = ranked(text)
    special = [cause for cause in causes if cause not in ALWAYS][:MAX_PROMPTS - len(ALWAYS)]
    return [cause for cause in causes if cause in ALWAYS or cause in special]


def from_statement(text):
    # The cause whose words occur most often, the first on a tie.
    scores = {cause: len(re.findall(rf"(?<![\w-])(?:{facts['signs']})(?!\w)", text, re.I))
              for cause, facts in CAUSES.items()}
    cause = max(scores, key=scores.get)
    facts = CAUSES[cause] if scores[cause] else GENERIC
    hypothesis = {
        "statement": text,
        "source": "given",
        "cause": cause if scores[cause] else "other",
        "falsified_by": facts["falsifier"],
        "experiment": facts["experiment"],
    }
    if len(text.split()) < 4 or VAGUE.search(text):
        hypothesis["note"] = "Too vague to fail a test: name the part, what it does wrong, and under which condition."
    return hypothesis


def from_cause(cause, text):
    facts = CAUSES[cause]
    found = match(facts["signs"], text)
    return {
        "statement": facts["question"],
        "source": "prompt",
        "cause": cause,
        "why": f"the report says “{found[0]}”" if found else "worth asking about every bug",
        "falsified_by": facts["falsifier"],
        "experiment": facts["experiment"],
    }


def ordered(hypothesis):
    keys = ("id", "statement", "source", "cause", "why", "falsified_by", "experiment_id", "status", "note")
    return {key: hypothesis[key] for key in keys if key in hypothesis}


def next_steps(given, count, unknowns):
    steps = []
    if unknowns:
        steps.append("Answer the open questions that are cheap to answer: "
                     + ", ".join(unknown["about"] for unknown in unknowns) + ".")
    if not given:
        steps.append("Replace the prompts by statements about this system that a test could prove wrong; "
                     "delete those that the facts already rule out.")
    elif count == 1:
        steps.append("Add at least one rival hypothesis: with a single one, every result looks like support.")
    steps.append("Write down what each hypothesis predicts before running anything.")
    steps.append("Run first the cheap experiment that rules out the most; change one thing at a time.")
    steps.append("Record every result, also the dull ones; mark a hypothesis falsified or surviving, never proven.")
    steps.append("Conclude only when the bug can be switched on and off at will; keep that switch as a regression test.")
    return steps


def title_of(text):
    line = next(line.strip() for line in text.split("\n") if line.strip())
    return line if len(line) <= MAX_TITLE else line[:MAX_TITLE - 1].rstrip() + "…"


# Markdown. What the person wrote must be shown, never interpreted: blocks go
# into a fence longer than any run of backticks in them, single lines have
# every character that Markdown could act on escaped.

def markdown(result):
    parts = [
        f"# Debugging worksheet: {inline(result['title'])}",
        "## 1. Observation\n\nAs reported; facts only, no causes.\n\n" + fence(result["observation"]["description"]),
    ]
    if result["observation"]["context"]:
        parts.append("### Context\n\n" + fence(result["observation"]["context"]))
    parts.append("## 2. Hypotheses")
    if result["hypotheses_are"] == "prompts":
        parts.append("> **These are prompts, not findings.** Nobody has stated a hypothesis yet. Turn each into a "
                     "statement about this system that a test could prove wrong, or strike it out.")
    else:
        parts.append("The tests below are suggestions by kind of cause: sharpen them until they fit the hypothesis.")
    parts += [hypothesis_section(h) for h in result["hypotheses"]]
    if result["alternatives_to_consider"]:
        rows = [f"- {a['cause']}: {a['question']}" for a in result["alternatives_to_consider"]]
        parts.append("### Also worth a thought\n\nKinds of cause that no hypothesis above covers (prompts, not findings):\n\n"
                     + "\n".join(rows))
    parts.append("## 3. Experiments\n\nOne change at a time. Write the prediction before running.\n\n" + table(
        ("id", "tests", "do", "falsified if", "prediction"),
        [(e["id"], e["tests"], e["do"], e["falsified_if"], "") for e in result["experiments"]]))
    parts.append("## 4. Evidence\n\n" + table(
        ("experiment", "what was observed", "where it is recorded", "verdict (falsified / survives / unclear)"),
        [(e["id"], "", "", "") for e in result["experiments"]]))
    parts.append("## 5. Conclusion\n\n- Cause (which hypothesis survived, and which were falsified):\n"
                 "- Mechanism (how the cause leads to the observation):\n"
                 "- Fix:\n- Proof (the bug switched off by the fix and on again without it):\n- Regression test:")
    questions = [f"- [ ] {u['question']} (the report does not seem to say {u['about']})" for u in result["unknowns"]]
    questions.append("- [ ] Which part of the observation would the surviving hypothesis not explain?")
    parts.append("## 6. Still unknown\n\n" + "\n".join(questions))
    parts.append("## Next steps\n\n" + "\n".join(f"{n}. {s}" for n, s in enumerate(result["next_steps"], 1)))
    return "\n\n".join(parts) + "\n"


def hypothesis_section(hypothesis):
    lines = [f"### {hypothesis['id']}: {hypothesis['cause']}", "", *(
        "> " + inline(line) if line.strip() else ">" for line in hypothesis["statement"].split("\n")), ""]
    if "why" in hypothesis:
        lines.append(f"- Why ask: {inline(hypothesis['why'])}")
    lines.append(f"- Falsified by: {hypothesis['falsified_by']}")
    lines.append(f"- Tested by: {hypothesis['experiment_id']}")
    lines.append("- Status: open")
    if "note" in hypothesis:
        lines.append(f"- Note: {hypothesis['note']}")
    return "\n".join(lines)


def inline(text):
    text = re.sub(r"([\\`*_\[\]<>#|~!&$])", r"\\\1", " ".join(text.split()))
    # Only at the start of a line do these make a list, a rule or a heading.
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", text)


def fence(text):
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{text}\n{marks}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


if __name__ == "__main__":
    main()
