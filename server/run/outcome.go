package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// newOutcome returns the outcome of a command, or nil if it never started.
func newOutcome(j *job, p *Proposal, result *sandbox.Result) *Outcome {
	if result == nil {
		return nil
	}
	what := j.subject
	if j.action == ActionSkill {
		what = "skill " + j.label
	}
	return &Outcome{RunID: j.id, What: what, Digest: p.Digest, Result: result}
}

// checkOutput returns an error if a script ended well and did not print one JSON
// value, as it has to. The error is an [*Error].
func checkOutput(skill *skills.Skill, o *Outcome) error {
	if o.Code != 0 || !skill.Entry.OutputJSON || !o.Stdout.Truncated() && json.Valid(o.Stdout.Bytes()) {
		return nil
	}
	what := "is not JSON"
	switch {
	case o.Stdout.Total == 0:
		what = "is empty"
	case o.Stdout.Truncated():
		what = fmt.Sprintf("is longer than the %d bytes that are kept", len(o.Stdout.Head)+len(o.Stdout.Tail))
	}
	return &Error{Code: ExecutionError, Message: fmt.Sprintf("%s ended well, but its output %s, and it has to print one JSON value; whoever maintains it has to fix it", o.What, what), Retryable: false, Err: nil}
}

// hint guesses why a script failed; "" is no guess. err is the [*Error] that ended
// it, if one did.
func hint(j *job, command *sandbox.Command, o *Outcome, err error, installed bool) string {
	if late, ok := errors.AsType[*Error](err); ok && late.Code == Timeout && j.skill.Interactive() {
		return unheard
	}
	if o.Code == 0 {
		return ""
	}
	if !installed {
		if hint := missing(command.Folder, command.Argv); hint != "" {
			return hint
		}
	}
	return lostFile(o, command.Grant)
}

// unheard hints at a script that asked without flushing its output: it waits for the
// answer to a question that nobody has received.
const unheard = "where it was about to ask: a question is one line, with a newline at its end, and has to be flushed"

// Messages of scripts for a file that is not found, or cannot be written.
var (
	saysReadOnly = lazyregexp.New(`(?i)read-only file system|EROFS`)
	saysMissing  = lazyregexp.New(`(?i)no such file or directory|ENOENT|FileNotFoundError|(?:file|path|director\w*|folder|input)\b.{0,200}(?:not found|does not exist|not a (?:valid )?(?:file|directory|path))|not found: \S*[./]`)
)

// lostFile returns a hint for a script that failed with a message about a file; ""
// without such a message.
func lostFile(o *Outcome, grant sandbox.Grant) string {
	output := string(o.Stderr.Head) + string(o.Stderr.Tail) + string(o.Stdout.Head) + string(o.Stdout.Tail)
	var hints []string
	if saysReadOnly.MatchString(output) {
		hint := "it may write to /out and /tmp alone, and its folder, /skill, is read-only: name what it writes by a path in /out, which is returned"
		if grant.Write {
			hint = "its folder, /skill, is read-only: name what it writes by a path in the workspace or in /out, which is returned"
		}
		hints = append(hints, hint)
	}
	if saysMissing.MatchString(output) {
		hint := "it runs in its own folder, /skill, and sees no workspace; a person can start the server with --workspace DIR"
		if len(grant.Workspaces) > 0 {
			hint = "it runs in its own folder, /skill: name files of the workspace by their whole path, " + path.Join(filepath.ToSlash(grant.Workspaces[0]), "NAME")
			if grant.Aliased() {
				hint += " or " + path.Join(sandbox.WorkspaceDir, "NAME")
			}
		}
		hints = append(hints, hint)
	}
	return strings.Join(hints, "; ")
}
