package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxCode is the longest code that is run, in bytes.
const maxCode = 1 << 20

// languages returns the languages that code may be written in.
func languages() []string { return []string{"bash", "python", "node"} }

// RunCode runs code that a model wrote. For the outcome and the error see
// [Executor.Run].
func (x *Executor) RunCode(ctx context.Context, r CodeRequest) (*Outcome, error) {
	j, err := x.codeJob(&r)
	if err != nil {
		return nil, x.records.refuse(ctx, &Proposal{Action: ActionCode, RunID: r.runID(), Skill: r.Skill}, &r.Call, err)
	}
	return x.perform(ctx, j)
}

func (x *Executor) codeJob(r *CodeRequest) (*job, error) {
	if err := checkCode(r); err != nil {
		return nil, err
	}
	workspaces, opened, err := x.resolve(&r.Call)
	if err != nil {
		return nil, err
	}
	timeout, err := timeoutOf(0, r.Timeout, x.options.MaxTimeout)
	if err != nil {
		return nil, err
	}
	j := &job{
		Call: &r.Call, action: ActionCode, id: r.runID(), skill: r.Skill, label: "run_code", subject: "the code",
		role: roleOf(r.Skill), timeout: timeout, lease: timeout, workspaces: workspaces, opened: opened,
		warm: -1, // no two calls are alike enough
	}
	if r.Skill != nil {
		j.label = r.Skill.QualifiedName()
	}
	if j.role == "" && r.Language == "node" {
		j.role = "node"
	}
	j.invoke = func(sandbox.Grant) (*invocation, error) {
		return &invocation{argv: slices.Concat(interpreterOf(r.Language), r.Args), stdin: strings.NewReader(r.Code)}, nil
	}
	return j, nil
}

// checkCode returns an [*Error] if code cannot be run.
func checkCode(r *CodeRequest) error {
	switch {
	case interpreterOf(r.Language) == nil:
		return invalid("%q is no language that is run; write one of %s", r.Language, strings.Join(languages(), ", "))
	case strings.TrimSpace(r.Code) == "":
		return invalid("the code is empty; write what is to be run")
	case len(r.Code) > maxCode:
		return invalid("the code is %d bytes long, more than the %d that are run; put data into files of the workspace", len(r.Code), maxCode)
	case strings.ContainsRune(r.Code, 0):
		return invalid("the code contains a NUL character; write it as an escape")
	}
	for i, arg := range r.Args {
		if err := skills.CheckWord(fmt.Sprintf("args[%d]", i), arg, 0); err != nil {
			return invalid("%v", err)
		}
	}
	return nil
}

// interpreterOf returns the command that reads code from its standard input to the
// end before it runs it: the code may be long, and finds an empty input. It is nil for
// an unknown language.
func interpreterOf(language string) []string {
	switch language {
	case "bash":
		return []string{"bash", "-c", `IFS= read -rd '' code; exec </dev/null; eval "unset code; $code"`, "bash"}
	case "python":
		return []string{"python3", "-"}
	case "node":
		return []string{"node", "-"}
	}
	return nil
}
