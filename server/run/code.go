package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxCode is the longest code that is run, in bytes.
const maxCode = 1 << 20

// A CodeRequest asks to run code that a model wrote.
type CodeRequest struct {
	Language string // one of Languages
	Code     string
	Args     []string
	// Skill is whose folder is seen at /skill; nil is nobody's.
	Skill *skills.Skill
	// Container is a sandbox that the caller has opened; "" is a fresh one.
	Container string
	// Caller and Tenant are as those of a [Request].
	Caller string
	Tenant sandbox.Tenant
	// Timeout asks for less time than the configuration allows; 0 does not.
	Timeout time.Duration
	// Stdout and Stderr get the output as it comes; nil is fine.
	Stdout, Stderr io.Writer
	// Progress is told what the call waits for before it starts; nil is fine.
	Progress func(message string)
}

// Languages are those that code may be written in.
func Languages() []string { return []string{"bash", "python", "node"} }

// interpreter returns the command that reads code from its standard input to the
// end before it runs it: the code may be long, and finds an empty input.
func interpreter(language string) []string {
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

// RunCode runs code with the grant of a safe skill, whatever skill's folder it
// is given. For outcome and error see [Executor.Run].
func (x *Executor) RunCode(ctx context.Context, r CodeRequest) (*Outcome, error) {
	if err := checkCode(r); err != nil {
		return nil, err
	}
	var opened *sandbox.Command
	if r.Container != "" {
		var err error
		if x, opened, err = x.kept(r.Caller, r.Container); err != nil {
			return nil, err
		}
	}
	command, digest, err := x.codeCommand(ctx, r)
	if err != nil {
		return nil, err
	}
	if opened != nil && r.Skill != nil {
		if err := fits(opened, command, r.Skill, r.Container); err != nil {
			return nil, err
		}
	}
	command.Tenant = r.Tenant
	result, err := x.start(ctx, r.Caller, r.Container, command)
	return outcome("the code", command, digest, result), failure("the code", r.Container, err)
}

func (x *Executor) codeCommand(ctx context.Context, r CodeRequest) (command *sandbox.Command, digest string, err error) {
	timeout, err := x.timeout(0, r.Timeout)
	if err != nil {
		return nil, "", err
	}
	snap, err := x.folder(ctx, r.Skill, timeout)
	if err != nil {
		return nil, "", err
	}
	role := roleOf(r.Skill)
	if role == "" && r.Language == "node" {
		role = "node"
	}
	id := newID("run-")
	command = &sandbox.Command{
		RunID:    id,
		Skill:    "run_code",
		Argv:     append(slices.Clone(interpreter(r.Language)), r.Args...),
		Env:      x.environment(r.Skill, r.Caller, id, nil),
		Folder:   snap.Dir,
		Role:     role,
		Grant:    sandbox.Grant{Workspaces: x.options.Workspaces},
		Limits:   sandbox.Limits{Timeout: timeout},
		Warm:     -1, // no two calls are alike enough
		Stdin:    strings.NewReader(r.Code),
		Stdout:   r.Stdout,
		Stderr:   r.Stderr,
		Progress: r.Progress,
	}
	if r.Skill != nil {
		command.Skill = r.Skill.QualifiedName()
	}
	return command, snap.Digest, nil
}

func checkCode(r CodeRequest) error {
	switch {
	case interpreter(r.Language) == nil:
		return invalid("%q is no language that is run; write one of %s", r.Language, strings.Join(Languages(), ", "))
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
