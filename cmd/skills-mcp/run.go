package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/invocation"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
)

// runCommand runs one skill.
type runCommand struct{ *app }

func newRunCommand(a *app) *cobra.Command {
	c := &runCommand{a}
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
terminal it does not run. A dangerous skill also needs a rule that names it, in the
configuration or by "skills-mcp grant NAME --approve each".

NAME may also be SOURCE:NAME (user:deploy, session:deploy) or the path of a skill's
folder, such as ./.claude/skills/deploy: so each is found, also one whose name another
one has.

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
		ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args[0], args[1:])
		},
	}
	// The words after the name are the skill's.
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func (c *runCommand) run(ctx context.Context, name string, args []string) (err error) {
	s, skill, own, err := c.skill(ctx, name)
	if err != nil {
		return err
	}
	given, err := invocation.Parse(skill, args)
	if err != nil {
		return exitcode.Usage(err)
	}
	if given.Help {
		return c.printHelp(skill)
	}
	snapshots, err := setup.OpenSnapshots()
	if err != nil {
		return err
	}
	s.Sandboxes.Single, s.Sandboxes.Pins = true, s.Pins(snapshots)
	runner := s.Sandboxes.Runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	if skill, err = s.LearnFor(ctx, runner, own, skill); err != nil {
		return err
	}
	request, err := c.request(own, skill, given)
	if err != nil {
		return err
	}
	s.Sandboxes.Hooks.Apply(ctx, own)
	defer s.Sandboxes.Hooks.Close()
	end := c.show(&request, given.Json)
	outcome, err := s.Sandboxes.Executor(runner, nil, snapshots, s.Approvals(terminalOf(s, c.app))).Run(ctx, request)
	end()
	return c.finish(skill, given, outcome, err)
}

// finish prints the result of a run, saves its files, and returns the exit code.
// outcome is nil if nothing was run.
func (c *runCommand) finish(skill *skills.Skill, given *invocation.RunArgs, outcome *run.Outcome, err error) error {
	if err == nil {
		err = result.CheckOutput(outcome)
	}
	if outcome == nil {
		return exitOf(outcome, err)
	}
	if given.Json {
		if err := c.printJSON(result.New(skill, outcome, err)); err != nil {
			return err
		}
	} else if skill.Entry.Server != nil && outcome.Stdout.Total > 0 {
		fmt.Fprintln(display(c.stdout), result.PersonText(outcome))
	}
	for _, text := range outcome.Hooks {
		fmt.Fprintln(c.stderr, "skills-mcp:", termtext.Visible(text))
	}
	if outcome.Hint != "" && (skill.Entry.Server == nil || err == nil) { // or the error has it
		how := "has"
		if outcome.Code == 0 { // the answer of a server
			how = "may have"
		}
		fmt.Fprintf(c.stderr, "skills-mcp: skill %s %s failed; %s\n", skill.QualifiedName(), how, outcome.Hint)
	}
	if advice := result.Advise(skill, outcome); advice != "" {
		fmt.Fprintf(c.stderr, "skills-mcp: skill %s: %s\n", skill.QualifiedName(), advice)
	}
	if err := invocation.TakeOut(given, outcome.Out, c.stderr); err != nil {
		return err
	}
	return exitOf(outcome, err)
}

func (c *runCommand) request(catalog *skills.Catalog, skill *skills.Skill, given *invocation.RunArgs) (run.Request, error) {
	folder, err := os.Getwd()
	if err != nil {
		return run.Request{}, err
	}
	request := run.Request{
		Call: run.Call{
			Principal: identity.Principal{Kind: identity.Person},
			Way:       run.WayCommand,
			Timeout:   given.Timeout,
			Warn:      func(message string) { fmt.Fprintln(c.stderr, "skills-mcp:", termtext.Visible(message)) },
			Callees: result.Callees(func(_ context.Context, name string) (*skills.Skill, error) {
				return server.Lookup(catalog, name)
			}),
		},
		Skill:  skill,
		Args:   given.Params,
		Folder: folder,
	}
	if given.Stdin {
		request.Stdin = c.stdin
	}
	if isTerminal(c.stdin) && isTerminal(c.stderr) {
		request.Client = elicit.Terminal(c.stdin, c.stderr)
	} else {
		request.Client = elicit.Nobody("nobody can be asked: skills-mcp run is not on a terminal")
	}
	return request, nil
}

// show connects the outputs of a request to the streams. end must be called when it has run.
func (c *runCommand) show(request *run.Request, quiet bool) (end func()) {
	request.Progress, end = newProgress(c.stderr)
	request.Stderr = display(c.stderr)
	if quiet || request.Skill.Entry != nil && request.Skill.Entry.Server != nil { // its answer is no text
		return end
	}
	request.Stdout = display(c.stdout)
	if status, drawn := c.stderr.(*terminal.Status); drawn && isTerminal(c.stdout) {
		request.Stdout = status.Beside(request.Stdout)
	}
	return end
}

// display returns the writer of a skill's output: to a terminal as plain text, so that
// a skill cannot control the terminal; to a file or a pipe unchanged.
func display(w io.Writer) io.Writer {
	if isTerminal(w) {
		return termtext.NewWriter(w)
	}
	return w
}

// exitOf returns the exit code of a run.
func exitOf(outcome *run.Outcome, err error) error {
	var e *run.Error
	switch {
	case err == nil && outcome.Code == 0:
		return nil
	case err == nil:
		return &exitcode.Error{Code: outcome.Code, Err: nil}
	case errors.As(err, &e) && (e.Code == run.InvalidParam || e.Code == run.NotFound):
		return exitcode.Usage(err)
	case errors.As(err, &e):
		return fmt.Errorf("%s: %w", e.Code, err)
	}
	return err
}

func (c *runCommand) printHelp(skill *skills.Skill) error {
	name := skill.QualifiedName()
	fmt.Fprintf(c.stdout, "%s\n\nUsage:\n  skills-mcp run %s [--PARAM VALUE]...\n", plain.Flat(skill.Description), name)
	if skill.Entry == nil {
		fmt.Fprintf(c.stdout, "\n%s has nothing to run: it gives instructions. See: skills-mcp show %s\n", name, name)
		if tools, _ := describe.Relatives(skill); len(tools) > 0 {
			fmt.Fprintf(c.stdout, "Its tools can be run: %s\n", strings.Join(tools, ", "))
		}
		return nil
	}
	if invocation.TakesWords(skill) {
		fmt.Fprintf(c.stdout, "  skills-mcp run %s -- WORD...\n", name)
	}
	if len(skill.Entry.Params()) == 0 {
		_, err := fmt.Fprintln(c.stdout, "\nIt declares no parameters.")
		return err
	}
	fmt.Fprintln(c.stdout, "\nParameters:")
	return report.PrintParams(c.stdout, skill.Entry)
}

// complete completes the name of a skill, then its parameters and their values.
// A value that can be anything may be a file.
func (c *runCommand) complete(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return c.completeNames(cmd, args, begun)
	}
	_, skill, _, err := c.skill(cmd.Context(), args[0])
	if err != nil || skill.Entry == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	params := skill.Entry.Params()
	if i := slices.IndexFunc(params, func(p skills.Param) bool { return "--"+p.Name == args[len(args)-1] }); i >= 0 {
		if choices := params[i].Choices(); len(choices) > 0 {
			return choices, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return missing(params, args[1:]), cobra.ShellCompDirectiveNoFileComp
}

// missing returns the options that are not among the words yet. An array's may be
// repeated.
func missing(params []skills.Param, words []string) []string {
	var options []string
	for _, p := range params {
		option := "--" + p.Name
		given := slices.ContainsFunc(words, func(word string) bool { return word == option || strings.HasPrefix(word, option+"=") })
		if !given || p.Schema.Type == "array" {
			options = append(options, option+"\t"+plain.OneLine(p.Help(), 80))
		}
	}
	return options
}
