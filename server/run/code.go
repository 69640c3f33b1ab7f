package run

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxCode is the longest code that is run, in bytes.
const maxCode = 1 << 20

// languages returns the languages that code may be written in.
func languages() []string { return []string{"bash", "python", "node", "typescript"} }

// RunCode runs code that a model wrote. For the outcome and the error see
// [Executor.Run].
func (x *Executor) RunCode(ctx context.Context, r CodeRequest) (*Outcome, error) {
	refused := Proposal{Action: ActionCode, RunID: r.runID(), Skill: r.Skill, Args: r.arguments()}
	return x.around(ctx, &r.Call, refused, func(ctx context.Context, args map[string]any) (*Outcome, error) {
		var j *job
		err := r.codeOf(args)
		if err == nil {
			j, err = x.codeJob(ctx, &r)
		}
		if err != nil {
			return nil, x.refuse(ctx, &refused, &r.Call, err)
		}
		return x.perform(ctx, j)
	})
}

// arguments returns the code as an argument of the call, with its language and its own
// arguments.
func (r *CodeRequest) arguments() map[string]any {
	args := map[string]any{"language": r.Language, "code": r.Code}
	if len(r.Args) > 0 {
		words := make([]any, len(r.Args))
		for i, word := range r.Args {
			words[i] = word
		}
		args["args"] = words
	}
	return args
}

// CodeHosts reports whether code of a principal may have the grant of a skill, after a
// question, and returns the hosts in it.
func (x *Executor) CodeHosts(ctx context.Context, who identity.Principal, skill *skills.Skill) (hosts []string, granted bool) {
	if !x.decider.MayAsk(who, skill) { // for most, and fast
		return nil, false
	}
	_, p := x.planJob(skill, nil)
	p.Action, p.Principal = ActionCode, who
	d, err := x.decider.Decide(ctx, p)
	if err != nil || d.Signatures == 0 {
		return nil, false
	}
	return d.Grant.Hosts, true
}

func (x *Executor) codeJob(ctx context.Context, r *CodeRequest) (*job, error) {
	if err := checkCode(r); err != nil {
		return nil, err
	}
	workspaces, opened, err := x.resolve(ctx, &r.Call)
	if err != nil {
		return nil, err
	}
	timeout, err := timeoutOf(0, r.Timeout, x.options.MaxTimeout)
	if err != nil {
		return nil, err
	}
	j := &job{
		Call: &r.Call, action: ActionCode, id: r.runID(), skill: r.Skill, label: "run_code", subject: "the code",
		args: r.arguments(), role: roleOf(r.Skill), timeout: timeout, lease: timeout, workspaces: workspaces, opened: opened,
		warm: -1, // no two calls are alike enough
	}
	if r.Skill != nil {
		j.label = r.Skill.QualifiedName()
		if r.asked != "" || x.decider.MayAsk(r.Principal, r.Skill) {
			j.lease += x.options.Asking.Or(elicit.DefaultLimits()).Wait
		}
	}
	if j.role == "" && (r.Language == "node" || r.Language == "typescript") {
		j.role = "node"
	}
	j.invoke = func(sandbox.Grant) (*invocation, error) {
		return &invocation{argv: slices.Concat(interpreterOf(r.Language), r.Args), args: j.args, stdin: bytes.NewReader([]byte(r.Code))}, nil
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
	case "typescript":
		return []string{"node", "--no-warnings", "-e", stripTypes, "--"}
	}
	return nil
}

// stripTypes runs TypeScript as JavaScript: Node takes the types away, if it can.
const stripTypes = `const {stripTypeScriptTypes: strip} = require("module")
if (!strip) {
	console.error("TypeScript needs Node 22.13 or later, and here is " + process.versions.node + "; write JavaScript, in the language node")
	process.exit(1)
}
const input = strip(require("fs").readFileSync(0, "utf8"))
const ran = require("child_process").spawnSync(process.execPath, ["-", ...process.argv.slice(1)], {input, stdio: ["pipe", "inherit", "inherit"]})
if (ran.error && ran.error.code !== "EPIPE") throw ran.error
process.exit(ran.status ?? 1)`
