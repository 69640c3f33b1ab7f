package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/spf13/cobra"
)

// ruleCommand changes the person's rule about a skill.
type ruleCommand struct {
	*app
	network, secrets, calls   []string
	write                     []string
	workspace, class, approve string
	remove                    bool
}

func newEnableCommand(a *app) *cobra.Command {
	c := &ruleCommand{app: a}
	return &cobra.Command{
		Use:               "enable NAME",
		Short:             "Let a skill be used again that you have disabled",
		Long:              "Let a skill be used again that you have disabled with disable. It asks on the\nterminal. A skill that the configuration disables is enabled there.",
		Example:           "  skills-mcp enable old-thing",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.enable(cmd.Context(), args[0]) },
	}
}

func newDisableCommand(a *app) *cobra.Command {
	c := &ruleCommand{app: a}
	return &cobra.Command{
		Use:               "disable NAME",
		Short:             "Let nobody use a skill",
		Long:              "Let nobody use a skill: it has no tool, is in no list, and does not run, also in\nservers that are running. The skill of another origin is not meant, even if it\nhas the same name.",
		Example:           "  skills-mcp disable old-thing",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.disable(cmd.Context(), args[0]) },
	}
}

func newGrantCommand(a *app) *cobra.Command {
	c := &ruleCommand{app: a}
	cmd := &cobra.Command{
		Use:   "grant NAME",
		Short: "Give a skill hosts, variables or a writable workspace",
		Long: `Give a skill what it needs and does not declare, without changing its files. The
grant is for the skill of this origin and not for another of its name; after a
change of the skill it counts while the skill has gained no capability. The calls
of the skill are asked about then. It is asked on a terminal whether you mean it.

Without flags, rules of the configuration that name the skill, and that belonged to
another skill of the name, count for this one.

Servers that are running follow. What the configuration says about the skill comes
first. --remove withdraws the grant.`,
		Example:           "  skills-mcp grant weather --network wttr.in:443 --approve always",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.grant(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&c.network, "network", nil, "let it connect to `HOST`, beside the hosts that it has (repeatable)")
	f.StringArrayVar(&c.secrets, "secret", nil, "give it the variable `NAME`, with the value of sandbox.env or of the server's environment (repeatable)")
	f.StringArrayVar(&c.calls, "call", nil, "let its script call the skills of `PATTERN`, of those that it declares (repeatable)")
	f.StringVar(&c.workspace, "workspace", "", "`ACCESS` to the workspaces: rw or ro")
	f.StringArrayVar(&c.write, "write", nil, "let it write to the protected `PATH` of writable workspaces: "+strings.Join(sandbox.Protected(), ", ")+" (repeatable)")
	f.StringVar(&c.class, "class", "", "treat it as of `CLASS`: safe, mutating or dangerous")
	f.StringVar(&c.approve, "approve", "", "ask `HOW` often: once, session, always or each")
	f.BoolVar(&c.remove, "remove", false, "withdraw the grant")
	complete(cmd, "workspace", []string{"rw", "ro"})
	complete(cmd, "class", []string{"safe", "mutating", "dangerous"})
	complete(cmd, "approve", []string{"once", "session", "always", "each"})
	return cmd
}

// A ruling is the person's rule about a skill, to be changed.
type ruling struct {
	*setup.Settings
	skill   *skills.Skill
	decider *policy.Policy
	rule    policy.Rule
}

// open returns the rule about the skill of a name.
func (c *ruleCommand) open(ctx context.Context, name string) (*ruling, error) {
	s, skill, _, err := c.skill(ctx, name)
	if err != nil {
		return nil, err
	}
	return &ruling{Settings: s, skill: skill, decider: s.Sandboxes.Decider(nil), rule: s.Sandboxes.Rules.Book.RuleOf(ctx, skill)}, nil
}

func (r *ruling) put(ctx context.Context) error {
	if err := r.Sandboxes.Rules.Book.Put(ctx, r.rule); err != nil {
		return fmt.Errorf("write the rule: %w", err)
	}
	return nil
}

func (c *ruleCommand) disable(ctx context.Context, name string) error {
	r, err := c.open(ctx, name)
	if err != nil {
		return err
	}
	if _, err := r.decider.Enable(ctx, identity.Principal{Kind: identity.Model}, r.skill, false); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "%s is disabled; skills-mcp enable %s enables it\n", plain.Visible(r.rule.Pattern), plain.Visible(name))
	return err
}

func (c *ruleCommand) enable(ctx context.Context, name string) error {
	r, err := c.open(ctx, name)
	if err != nil {
		return err
	}
	if r.rule.Enabled != nil {
		if err := c.ask(ctx, r, "enable it", nil); err != nil {
			return err
		}
	}
	changed, err := r.decider.Enable(ctx, identity.Principal{Kind: identity.Model}, r.skill, true)
	if err != nil {
		return err
	}
	state := "is not disabled"
	if changed {
		state = "is enabled"
	}
	_, err = fmt.Fprintf(c.stderr, "%s %s\n", plain.Visible(r.rule.Pattern), state)
	return err
}

func (c *ruleCommand) grant(ctx context.Context, name string) error {
	r, err := c.open(ctx, name)
	if err != nil {
		return err
	}
	switch foreign := r.decider.Foreign(ctx, r.skill); {
	case c.remove && !c.empty():
		return exitcode.Usage(errors.New("--remove withdraws all of a grant; leave out the other flags"))
	case c.remove:
		done := "has no grant of yours"
		if len(r.rule.Lines()) > 0 {
			done = "has its grant no more"
		}
		r.rule = policy.Rule{Pattern: r.rule.Pattern, Origin: r.rule.Origin, Enabled: r.rule.Enabled}
		if err := r.put(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.stderr, "%s %s\n", plain.Visible(r.rule.Pattern), done)
		return err
	case c.empty() && len(foreign) == 0:
		return exitcode.Usage(errors.New("say what the skill is given, such as --network HOST; why says what it has"))
	case c.empty():
		if err := c.ask(ctx, r, "let these rules count for it", foreign); err != nil {
			return err
		}
		return r.decider.Adopt(ctx, r.skill)
	}
	if err := c.widen(ctx, r); err != nil {
		return err
	}
	if err := c.make(ctx, r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "granted; skills-mcp why %s says what its calls meet, and grant --remove %s withdraws it\n", plain.Visible(name), plain.Visible(name))
	return err
}

// make asks the person about a rule that gives something, and writes it.
func (c *ruleCommand) make(ctx context.Context, r *ruling) error {
	if r.skill.Untrusted() {
		return fmt.Errorf("%s is of the workspace %s, which is not trusted, and is given nothing", r.rule.Pattern, r.skill.Workspace)
	}
	if err := c.ask(ctx, r, "grant it", r.rule.Lines()); err != nil {
		return err
	}
	return r.Secrets.Grant(ctx, &manage.SecretProposal{Skill: r.skill, Rule: r.rule})
}

// empty reports whether no flag grants anything.
func (c *ruleCommand) empty() bool {
	return len(c.network)+len(c.secrets)+len(c.calls)+len(c.write) == 0 && c.workspace+c.class+c.approve == ""
}

// widen adds the flags to a rule.
func (c *ruleCommand) widen(ctx context.Context, r *ruling) error {
	given := config.SkillRule{Class: c.class, Approve: c.approve, Workspace: c.workspace, Write: c.write, Env: c.secrets, Calls: c.calls}
	for _, text := range c.network {
		host, err := egress.ParseRule(text)
		switch {
		case err != nil:
			return exitcode.Usage(fmt.Errorf("--network: %w", err))
		case !host.Public():
			return exitcode.Usage(fmt.Errorf("--network %s is not public; such addresses are granted in the configuration: sandbox.network and policy.skills", host))
		}
		given.Network = append(given.Network, config.Host{Rule: host})
	}
	flags, err := given.Rule(r.rule.Pattern)
	if err != nil {
		return exitcode.Usage(err)
	}
	if by := r.Policy.Configured(&flags); by != "" {
		return exitcode.Usage(fmt.Errorf("%s already; change it there, as the configuration comes first", by))
	}
	merge(&r.rule, &flags, r.skill)
	r.rule.Digest, err = snapshot.Digest(ctx, r.skill.Files)
	return err
}

// merge adds what is given to a rule. The hosts are beside those that the skill declares.
func merge(rule, given *policy.Rule, skill *skills.Skill) {
	if given.Hosts != nil && rule.Hosts == nil && skill.Entry != nil {
		for _, declared := range skill.Entry.Network {
			if host, err := egress.ParseRule(declared); err == nil {
				rule.Hosts = append(rule.Hosts, host)
			}
		}
	}
	rule.Hosts, rule.Env = union(rule.Hosts, given.Hosts), union(rule.Env, given.Env)
	rule.Unprotected, rule.Calls = union(rule.Unprotected, given.Unprotected), union(rule.Calls, given.Calls)
	rule.Class, rule.Approve = cmp.Or(given.Class, rule.Class), cmp.Or(given.Approve, rule.Approve)
	if given.Write != nil {
		rule.Write = given.Write
	}
}

// union adds to a list those of another that it does not have.
func union[T comparable](list, more []T) []T {
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// ask asks the person on the terminal about a rule. The error says that there is none, or
// that they said no.
func (c *ruleCommand) ask(ctx context.Context, r *ruling, action string, lines []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "skills-mcp: your rule about the skill %s\n", plain.Visible(r.rule.Pattern))
	fmt.Fprintf(&b, "  from    %s\n", plain.Visible(r.rule.Origin))
	fmt.Fprintf(&b, "  class   %s, as it declares\n", r.skill.Class)
	for _, line := range lines {
		fmt.Fprintf(&b, "  it      %s\n", plain.Visible(line))
	}
	return c.app.confirm(ctx, b.String(), action)
}
