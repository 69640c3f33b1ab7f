package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

func (a *app) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run NAME [--PARAM VALUE]...",
		Short: "Run one skill, exactly as a client's call would",
		Long: `Run one skill in a sandbox. Its standard error is shown as it comes, then its
standard output; the exit code is the skill's. What the sandbox refuses or ends
exits with 1, wrong arguments with 2, and Ctrl-C or another signal with 128 and
its number. A skill that asks you something asks on the terminal, if there is one.

A skill of the class mutating or dangerous may write to the workspace and connect
to the hosts that it is granted. Such a call is shown before it runs, with every
argument, and runs once you have typed the number that is asked for. Without a
terminal it does not run.

Where a skill of the workspace has the name of one of yours, NAME does not say
which is meant: write SOURCE:NAME (user:deploy, session:deploy), or the path of the
skill's folder, such as ./.claude/skills/deploy.

Flags of skills-mcp come before NAME. After it, each --PARAM VALUE is one of the
skill's; "run NAME --help" prints them. These are understood there too, unless
the skill has a parameter of that name:

  --args-json JSON   more parameters, as a JSON object
  --stdin            pass standard input to the skill
  -- WORD...         for a script whose parameters are not known: its command line
  --timeout SECONDS  stop the skill after this time
  --out DIR          write the files that the skill leaves in /out to DIR
  --force            overwrite files there
  --json             print the result with exit code, timing and digest as JSON`,
		Example:           "  skills-mcp run colony-samples/code-complexity --path . --top_n 3",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), args[0], args[1:])
		},
	}
	// What follows the name is the skill's.
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func (a *app) run(ctx context.Context, name string, args []string) (err error) {
	s, catalog, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	skill, own, err := s.pick(catalog, name)
	if err != nil {
		return err
	}
	if len(named(catalog, name)) == 0 {
		if others := theirs(catalog, name, skill); len(others) > 0 {
			return usageError(ambiguous(catalog, name, append(others, skill)))
		}
	}
	catalog = own
	given, err := parseRun(skill, args)
	if err != nil {
		return usageError(err)
	}
	if given.help {
		return a.printRunHelp(skill)
	}
	snapshots, err := s.snapshots()
	if err != nil {
		return err
	}
	s.single = true
	runner := s.runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	if skill, err = s.learnFor(ctx, runner, catalog, skill); err != nil {
		return err
	}
	request, err := a.request(skill, given)
	if err != nil {
		return err
	}
	outcome, err := s.executor(runner, nil, snapshots, a.confirmer(skill)).Run(ctx, request)
	_, done := a.progress()
	done()
	if err == nil {
		err = server.CheckOutput(skill, outcome)
	}
	if given.json && outcome != nil {
		if err := a.printJSON(server.NewRunResult(skill, outcome, err)); err != nil {
			return err
		}
	}
	if outcome != nil {
		if outcome.Hint != "" {
			fmt.Fprintf(a.stderr, "skills-mcp: skill %s has failed; %s\n", skill.QualifiedName(), outcome.Hint)
		}
		if advice := server.Advise(skill, outcome); advice != "" {
			fmt.Fprintf(a.stderr, "skills-mcp: skill %s: %s\n", skill.QualifiedName(), advice)
		}
		if err := a.takeOut(given, outcome.Out); err != nil {
			return err
		}
	}
	return exit(outcome, err)
}

func (a *app) request(skill *skills.Skill, given *runArgs) (run.Request, error) {
	folder, err := os.Getwd()
	if err != nil {
		return run.Request{}, err
	}
	report, done := a.progress()
	request := run.Request{
		Call: run.Call{
			Principal: identity.Principal{Kind: identity.Person},
			Timeout:   given.timeout,
			Stderr:    display(a.stderr),
			Progress:  report,
			Warn:      func(message string) { fmt.Fprintln(a.stderr, "skills-mcp:", message) },
		},
		Skill:  skill,
		Args:   given.params,
		Folder: folder,
	}
	if given.stdin {
		request.Stdin = a.stdin
	}
	if isTerminal(a.stdin) && isTerminal(a.stderr) {
		request.Client = elicit.Terminal(a.stdin, a.stderr)
	} else {
		request.Client = elicit.Nobody("nobody can be asked: skills-mcp run is not on a terminal")
	}
	if !given.json {
		request.Stdout = after(done, display(a.stdout))
	}
	return request, nil
}

// display is where a skill's output goes: to a terminal as plain text, so that a
// skill cannot work the terminal; to a file or a pipe as it is.
func display(w io.Writer) io.Writer {
	if isTerminal(w) {
		return termtext.NewWriter(w)
	}
	return w
}

// after returns a writer to w that calls do before each write.
func after(do func(), w io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		do()
		return w.Write(p)
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// exit is how the program ends after a run.
func exit(outcome *run.Outcome, err error) error {
	var e *run.Error
	switch {
	case err == nil && outcome.Code == 0:
		return nil
	case err == nil:
		return &exitError{outcome.Code, nil}
	case errors.As(err, &e) && (e.Code == run.InvalidParam || e.Code == run.NotFound):
		return usageError(err)
	case errors.As(err, &e):
		return fmt.Errorf("%s: %w", e.Code, err)
	}
	return err
}

// runArgs are the words after a skill's name, understood.
type runArgs struct {
	params                   map[string]any
	help, stdin, json, force bool
	out                      string // a folder; "" is none
	timeout                  time.Duration
}

// parseRun reads the words after a skill's name: the skill's own parameters,
// and the few options of run.
func parseRun(skill *skills.Skill, words []string) (*runArgs, error) {
	given := &runArgs{params: map[string]any{}}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if word == "--" && takesWords(skill) {
			given.params["args"] = anyWords(words)
			break
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !strings.HasPrefix(word, "--") || name == "" {
			return nil, fmt.Errorf("%q is not an option; parameters of %s are written as --NAME VALUE", word, skill.QualifiedName())
		}
		param := declared(skill, name)
		// A flag stands alone: a boolean's, or one of run's own.
		bare := !joined && (len(words) == 0 || strings.HasPrefix(words[0], "--"))
		next := func() (string, error) {
			switch {
			case joined:
				return value, nil
			case bare:
				return "", fmt.Errorf("--%s needs a value; one that begins with -- is written as --%s=VALUE", name, name)
			}
			value, words = words[0], words[1:]
			return value, nil
		}
		if param == nil || name == "stdin" && bare && takesWords(skill) {
			if own, err := given.option(name, next); own || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		if param == nil {
			if param = spelled(skill, name); param != nil {
				name = param.Name
			}
		}
		if param != nil && param.Schema.Type == "boolean" && !joined && (bare || words[0] != "true" && words[0] != "false") {
			given.params[name] = true
			continue
		}
		text, err := next()
		if err != nil {
			return nil, err
		}
		if err := given.add(skill.Entry, param, name, text); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// takesWords reports whether what a skill runs takes any command line.
func takesWords(skill *skills.Skill) bool {
	if skill.Entry == nil {
		return false
	}
	_, words := skill.Entry.Passing().(skills.RawArgv)
	return words
}

func anyWords(words []string) []any {
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = word
	}
	return list
}

func declared(skill *skills.Skill, name string) *skills.Param {
	if skill.Entry == nil {
		return nil
	}
	for _, p := range skill.Entry.Params() {
		if p.Name == name {
			return &p
		}
	}
	return nil
}

// spelled is the parameter that a script's own parser calls --a-b and its
// arguments a_b. Where a parameter that nobody declared is passed on, a name is
// what it says.
func spelled(skill *skills.Skill, name string) *skills.Param {
	if skill.Entry == nil {
		return nil
	}
	if _, static := skill.Entry.Passing().(skills.ParsedCLI); !static {
		return nil
	}
	return declared(skill, strings.ReplaceAll(name, "-", "_"))
}

// option reads one of run's own options; own is false where it is none.
func (g *runArgs) option(name string, next func() (string, error)) (own bool, err error) {
	switch name {
	case "help":
		g.help = true
	case "stdin":
		g.stdin = true
	case "json":
		g.json = true
	case "force":
		g.force = true
	case "out":
		g.out, err = next()
		if err == nil && g.out == "" {
			err = errors.New("--out is empty; name a folder")
		}
		return true, err
	case "timeout":
		text, err := next()
		if err != nil {
			return true, err
		}
		seconds, err := json.Number(text).Float64()
		if err == nil {
			g.timeout, err = skills.Seconds(seconds)
		}
		if err != nil {
			return true, fmt.Errorf("--timeout is %q; write a number of seconds above 0", text)
		}
	case "args-json":
		text, err := next()
		if err != nil {
			return true, err
		}
		value, err := skills.DecodeJSON(text)
		object, ok := value.(map[string]any)
		if err != nil || !ok {
			return true, errors.New("--args-json is not a JSON object")
		}
		for name, value := range object {
			g.params[name] = value
		}
	default:
		return false, nil
	}
	return true, nil
}

// add takes the text of an option as a value of its parameter. An array is given
// whole or item by item.
func (g *runArgs) add(entry *skills.Entry, param *skills.Param, name, text string) error {
	if param == nil {
		g.params[name] = text
		return nil
	}
	value := schema.ReadText(entry, *param, text)
	before, twice := g.params[name]
	if more, array := value.([]any); array && param.Schema.Type == "array" {
		items, _ := before.([]any)
		g.params[name] = append(items, more...)
		return nil
	}
	if twice {
		return fmt.Errorf("--%s is given twice", name)
	}
	g.params[name] = value
	return nil
}

func (a *app) printRunHelp(skill *skills.Skill) error {
	name := skill.QualifiedName()
	fmt.Fprintf(a.stdout, "%s\n\nUsage:\n  skills-mcp run %s [--PARAM VALUE]...\n", flat(skill.Description), name)
	if skill.Entry == nil {
		fmt.Fprintf(a.stdout, "\n%s has nothing to run: it gives instructions. See: skills-mcp show %s\n", name, name)
		if tools, _ := describe.Relatives(skill); len(tools) > 0 {
			fmt.Fprintf(a.stdout, "Its tools can be run: %s\n", strings.Join(tools, ", "))
		}
		return nil
	}
	if takesWords(skill) {
		fmt.Fprintf(a.stdout, "  skills-mcp run %s -- WORD...\n", name)
	}
	if len(skill.Entry.Params()) == 0 {
		_, err := fmt.Fprintln(a.stdout, "\nIt declares no parameters.")
		return err
	}
	fmt.Fprintln(a.stdout, "\nParameters:")
	return printParams(a.stdout, skill.Entry)
}
