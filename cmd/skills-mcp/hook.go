package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/plugins/hookio"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hookCommand runs a hook of a plugin for a client.
type hookCommand struct{ *app }

// newHookCommand returns the command hook, which reads its flags from variables itself.
func newHookCommand(a *app, fromEnvironment func(flags, global *pflag.FlagSet) error) *cobra.Command {
	c := &hookCommand{a}
	cmd := &cobra.Command{
		Use:   "hook PLUGIN ID",
		Short: "Run a plugin's hook in a sandbox, for a client that sends the event",
		Long: `Run a hook of a plugin in a sandbox, with what the plugin's hooks are granted. A client
starts this as a command hook, with the event as JSON on standard input: "skills-mcp
connect claude-code --hooks" writes the entries. "skills-mcp show PLUGIN/hooks" has
the IDs; a hook that has changed has another one.

It always prints one JSON object and exits with 0: the output of the hook, reduced to
the documented fields. A hook can refuse, ask, and add context. It cannot say yes for
you: "allow" is dropped, and a call whose arguments it changes is asked about. Where
a hook fails, or waits for your yes, the object is a systemMessage, and the client
goes on without it.`,
		Example: "  skills-mcp hook formatter posttooluse-3f9a1c < event.json",
		Args:    cobra.ArbitraryArgs,
		// In place of the root's: its errors end the program.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			var out hookio.Output
			err := fromEnvironment(cmd.Flags(), cmd.Root().PersistentFlags())
			if err == nil && len(args) != 2 {
				err = errors.New("give the PLUGIN and the ID of a hook")
			}
			if err == nil {
				out, err = c.run(cmd.Context(), args[0], args[1])
			}
			return c.print(cmd, out, err)
		},
	}
	// Wrong usage would exit with 2, which a client takes for the hook's no.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return c.print(cmd, hookio.Output{}, err) })
	return cmd
}

// print prints an output, or an error for the person.
func (c *hookCommand) print(cmd *cobra.Command, out hookio.Output, err error) error {
	if err != nil {
		what := strings.Join(append([]string{"the hook"}, cmd.Flags().Args()...), " ")
		out = hookio.Output{Message: fmt.Sprintf("skills-mcp: %s has no effect: %s", plain.OneLine(what, 200), plain.OneLine(err.Error(), 2000))}
	}
	return json.NewEncoder(c.stdout).Encode(out)
}

// maxEvent bounds an event, in bytes: it has the whole result of a tool.
const maxEvent = 16 << 20

func (c *hookCommand) run(ctx context.Context, plugin, id string) (out hookio.Output, err error) {
	event, err := io.ReadAll(io.LimitReader(c.stdin, maxEvent))
	if err != nil {
		return out, err
	}
	var read struct {
		Event string `json:"hook_event_name"`
	}
	if json.Unmarshal(event, &read) != nil {
		return out, fmt.Errorf("standard input is not the JSON of an event of less than %d MiB; a client has to send it", maxEvent>>20)
	}
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return out, err
	}
	skill, err := hookSkill(catalog, plugin, id)
	switch {
	case err != nil:
		return out, err
	case skill.Entry.Hook.Event != read.Event:
		return out, fmt.Errorf("it is for %s, and the client has sent %q", skill.Entry.Hook.Event, read.Event)
	}
	snapshots, err := setup.OpenSnapshots()
	if err != nil {
		return out, err
	}
	s.Sandboxes.Single, s.Sandboxes.Pins = true, s.Pins(snapshots)
	runner := s.Sandboxes.Runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	o, err := s.Sandboxes.Executor(runner, nil, snapshots, s.Approvals(nil)).Run(ctx, run.Request{
		Call:  run.Call{Principal: identity.Principal{Kind: identity.Model}, Way: run.WayHook, Client: elicit.Nobody("nobody can be asked: a client runs the hook")},
		Skill: skill, Stdin: bytes.NewReader(event),
	})
	if err != nil {
		return out, err
	}
	return hookio.Read(read.Event, o.Code, string(o.Stdout.Bytes()), string(o.Stderr.Bytes()))
}

// hookSkill returns the skill that runs a hook of a plugin for clients.
func hookSkill(catalog *skills.Catalog, plugin, id string) (*skills.Skill, error) {
	skill, err := catalog.Lookup(plugin + "/hooks__" + id)
	switch {
	case err != nil || skill.Entry == nil || skill.Entry.Hook == nil:
		return nil, errors.New("there is no such hook: the plugin has changed or is gone; skills-mcp connect claude-code --hooks --write updates the client")
	case skill.Unavailable != "":
		return nil, errors.New(skill.Unavailable)
	case strings.HasPrefix(skill.Entry.Hook.Event, "Elicitation"):
		return nil, errors.New("it would answer forms for you")
	case !slices.Contains(hookio.Events(), skill.Entry.Hook.Event):
		return nil, fmt.Errorf("hooks of %s are not run for clients", skill.Entry.Hook.Event)
	}
	return skill, nil
}
