package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// profileCommand makes the profiles of clients.
type profileCommand struct {
	*app
	from string
	json bool
}

func newProfileCommand(a *app) *cobra.Command {
	c := &profileCommand{app: a}
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Bound what some clients may do",
		Long: `Bound what some clients may do: a profile says which skills exist for them, and what
calls of these get. Clients have it by serve --profile, by their token, or by the URL
that they use. Servers that are running follow at once. Profiles of the configuration
(policy.profiles) are changed there.`,
		Example: "  skills-mcp profile add ci --allow 'team/*' --class safe\n  skills-mcp profile test ci",
	}
	list := &cobra.Command{
		Use: "list", Short: "List the profiles", Example: "  skills-mcp profile list",
		RunE: with(c.settings, c.list),
	}
	show := &cobra.Command{
		Use: "show NAME", Short: "Show a profile", Example: "  skills-mcp profile show ci", ValidArgsFunction: completeProfiles(a),
		RunE: with(c.settings, c.show),
	}
	const fields = `
A flag sets a field; '' unsets it, and none is a list of nothing. It is asked on a
terminal whether you mean it.`
	add := &cobra.Command{
		Use: "add NAME", Short: "Make a profile", Example: "  skills-mcp profile add reviewer --from agents/reviewer.md --mode read-only",
		Long: "Make a profile. With --from it is read from the file of an agent: its permission mode,\nand its tools that are skills." + fields,
		RunE: func(cmd *cobra.Command, args []string) error { return c.put(cmd, args[0], true) },
	}
	set := &cobra.Command{
		Use: "set NAME", Short: "Change a profile", Example: "  skills-mcp profile set ci --deny team/deploy --timeout 1m",
		Long: "Change a profile. What no flag names stays." + fields, ValidArgsFunction: completeProfiles(a),
		RunE: func(cmd *cobra.Command, args []string) error { return c.put(cmd, args[0], false) },
	}
	rm := &cobra.Command{
		Use: "rm NAME", Short: "Remove a profile", Example: "  skills-mcp profile rm ci", ValidArgsFunction: completeProfiles(a),
		Long: "Remove a profile. No skill exists then for the clients that have it.",
		RunE: with(c.settings, c.rm),
	}
	test := &cobra.Command{
		Use: "test NAME", Short: "Say which skills clients of a profile have, and what calls meet", Example: "  skills-mcp profile test ci",
		Long:              "Say which skills exist for the clients of a profile, and what their calls meet;\nwhy SKILL --as NAME says more of one. Nothing is run, and nobody is asked.",
		ValidArgsFunction: completeProfiles(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.test(cmd.Context(), args) },
	}
	for _, shows := range []*cobra.Command{list, show, test} {
		shows.Flags().BoolVar(&c.json, "json", false, "print JSON")
	}
	for _, changes := range []*cobra.Command{add, set} {
		c.register(changes)
	}
	cmd.AddCommand(list, show, add, set, rm, test)
	return cmd
}

// register adds the flags of the fields of a profile.
func (c *profileCommand) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.from, "from", "", "read it from the `FILE` of an agent, before the other flags")
	f.String("mode", "", "the stricter of `MODE` and policy.mode counts: read-only, confirm or dual-sign")
	f.StringArray("allow", nil, "let skills of `PATTERN` exist, and no others (repeatable)")
	f.StringArray("deny", nil, "let no skill of `PATTERN` exist (repeatable)")
	f.String("class", "", "let no skill above `CLASS` exist: safe, mutating or dangerous")
	f.StringArray("capability", nil, "let skills require `CAPABILITY`, and no other (repeatable)")
	f.Int("max-concurrent", 0, "run at most `N` of its calls at once; 0 is any number")
	f.Duration("timeout", 0, "end each call after `TIME`, such as 90s; 0 is no bound")
	f.StringArray("pin", nil, "show skills of `PATTERN` first, in the order of the flags (repeatable)")
	f.String("workspace", "", "let its calls see `DIR` in place of all workspaces")
	f.StringArray("env", nil, "give `NAME=VALUE` to skills that name it (repeatable)")
	f.StringArray("secret", nil, "let calls have the secret `NAME`, of those that are granted, and no other (repeatable)")
	complete(cmd, "mode", []string{"read-only", "confirm", "dual-sign"})
	complete(cmd, "class", []string{"safe", "mutating", "dangerous"})
}

// change sets the fields of a profile whose flags were given.
func (c *profileCommand) change(f *pflag.FlagSet, p *policy.Profile) error {
	var failed error
	lists := map[string]*[]string{"allow": &p.Allow, "deny": &p.Deny, "capability": &p.Capabilities, "pin": &p.Pin, "secret": &p.Secrets}
	f.Visit(func(flag *pflag.Flag) {
		switch values, _ := f.GetStringArray(flag.Name); {
		case lists[flag.Name] != nil && strings.Join(values, "") == "":
			*lists[flag.Name] = nil
		case lists[flag.Name] != nil && slices.Equal(values, []string{"none"}):
			*lists[flag.Name] = []string{}
		case lists[flag.Name] != nil:
			*lists[flag.Name] = values
		case flag.Name == "env":
			p.Env = nil
			for _, variable := range slices.DeleteFunc(values, func(v string) bool { return v == "" }) {
				name, value, assigned := strings.Cut(variable, "=")
				if !assigned {
					failed = exitcode.Usage(fmt.Errorf("--env is %q; write NAME=VALUE", variable))
				}
				if p.Env == nil {
					p.Env = map[string]string{}
				}
				p.Env[name] = value
			}
		case flag.Name == "mode":
			p.Mode = policy.Mode(flag.Value.String())
		case flag.Name == "class":
			p.Class = skills.Class(flag.Value.String())
		case flag.Name == "max-concurrent":
			p.MaxConcurrent, _ = f.GetInt(flag.Name)
		case flag.Name == "timeout":
			d, _ := f.GetDuration(flag.Name)
			p.Timeout = policy.Timeout(d)
		case flag.Name == "workspace":
			if p.Workspace = flag.Value.String(); p.Workspace != "" {
				folder, err := os.Getwd()
				p.Workspace, failed = setup.AbsolutePath(folder, p.Workspace), cmp.Or(failed, err)
			}
		}
	})
	return failed
}

func (c *profileCommand) put(cmd *cobra.Command, name string, add bool) error {
	ctx := cmd.Context()
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	to := policy.NamedProfile{Name: name}
	if !add {
		if to, err = s.Profiles.Find(ctx, name); err != nil {
			return usage(err)
		}
	}
	if c.from != "" {
		if err := c.read(&to.Profile, catalog); err != nil {
			return err
		}
	}
	if err := c.change(cmd.Flags(), &to.Profile); err != nil {
		return err
	}
	if to, err = s.Profiles.Check(ctx, to, add); err != nil {
		return usage(err)
	}
	var question bytes.Buffer
	fmt.Fprintf(&question, "skills-mcp: the profile %s\n", name)
	for _, field := range to.Fields() {
		fmt.Fprintf(&question, "  %s  %s\n", field[0], plain.Visible(field[1]))
	}
	if err := c.confirm(ctx, question.String(), "let clients have it"); err != nil {
		return err
	}
	if _, err := s.Profiles.Put(ctx, to, add); err != nil {
		return usage(err)
	}
	_, err = fmt.Fprintf(c.stderr, "the profile %s is written; skills-mcp profile test %s says what it allows\n", name, name)
	return err
}

// read reads a profile from the file of an agent, in place of the fields that it has.
func (c *profileCommand) read(p *policy.Profile, catalog *skills.Catalog) error {
	data, err := os.ReadFile(c.from)
	if err != nil {
		return exitcode.Usage(err)
	}
	read, notes, err := agents.FrontmatterProfile(data, catalog)
	if err != nil {
		return exitcode.Usage(fmt.Errorf("%s: %w", c.from, err))
	}
	for _, note := range notes {
		fmt.Fprintf(c.stderr, "%s: %s\n", plain.Visible(c.from), plain.Visible(note))
	}
	p.Mode, p.Allow, p.Deny = read.Mode, read.Allow, read.Deny
	return nil
}

func (c *profileCommand) list(ctx context.Context, s *setup.Settings, _ []string) error {
	return listing[policy.NamedProfile]{
		key: "profiles", none: "there are no profiles; skills-mcp profile add NAME makes one", headings: "NAME\tFROM\tFIELDS",
		row: func(p policy.NamedProfile) string {
			fields := make([]string, 0, 8)
			for _, field := range p.Fields() {
				fields = append(fields, field[0]+": "+field[1])
			}
			from := map[bool]string{true: "configuration", false: "command"}[p.Configured]
			return fmt.Sprintf("%s\t%s\t%s", p.Name, from, plain.Visible(cmp.Or(strings.Join(fields, "; "), "bounds nothing")))
		},
	}.print(c.app, c.json, s.Profiles.List(ctx))
}

func (c *profileCommand) show(ctx context.Context, s *setup.Settings, args []string) error {
	p, err := s.Profiles.Find(ctx, args[0])
	switch {
	case err != nil:
		return usage(err)
	case c.json:
		return c.printJSON(p)
	}
	for _, field := range p.Fields() {
		if _, err := fmt.Fprintf(c.stdout, "%-26s%s\n", field[0], plain.Visible(field[1])); err != nil {
			return err
		}
	}
	return nil
}

func (c *profileCommand) rm(ctx context.Context, s *setup.Settings, args []string) error {
	if err := s.Profiles.Remove(ctx, args[0]); err != nil {
		return usage(err)
	}
	_, err := fmt.Fprintf(c.stderr, "the profile %s is removed; no skill exists for clients that have it\n", plain.Visible(args[0]))
	return err
}

func (c *profileCommand) test(ctx context.Context, args []string) error {
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	trials, err := s.Profiles.Try(ctx, args[0], catalog.Skills)
	if err != nil {
		return usage(err)
	}
	return listing[manage.Trial]{
		key: "skills", none: "there are no skills", headings: "SKILL\tSTATE",
		row: func(t manage.Trial) string { return plain.Visible(t.Skill) + "\t" + plain.Visible(t.State) },
	}.print(c.app, c.json, trials)
}
