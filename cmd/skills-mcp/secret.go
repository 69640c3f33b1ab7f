package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/spf13/cobra"
)

// secretCommand keeps secrets, and grants them to skills.
type secretCommand struct {
	ruleCommand
	given   run.SecretGrant
	command string // prints the value
	json    bool
}

func newSecretCommand(a *app) *cobra.Command {
	c := &secretCommand{ruleCommand: ruleCommand{app: a}}
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep secrets, and let skills use them without seeing them",
		Long: `Keep secrets such as tokens, sealed, and let skills use them. A skill that is granted
one has a text of the same shape in its variable, and the proxy of its sandbox puts
the value into requests to the granted hosts. The value is neither in the sandbox
nor in what the skill prints.`,
		Example: "  gh auth token | skills-mcp secret set GITHUB_TOKEN\n  skills-mcp secret grant issues GITHUB_TOKEN --host api.github.com --method GET",
	}
	set := &cobra.Command{
		Use:   "set NAME",
		Short: "Keep the value of a secret",
		Long: `Keep the value of a secret, in place of an earlier one. It is read from the terminal,
which does not show it, or from standard input; arguments are seen by others. With
--from-command nothing is kept but the command, which runs at each use.`,
		Example: "  skills-mcp secret set GITHUB_TOKEN --from-command 'gh auth token'",
		RunE:    func(cmd *cobra.Command, args []string) error { return c.set(cmd.Context(), args[0]) },
	}
	set.Flags().StringVar(&c.command, "from-command", "", "run `COMMAND` at each use, as you, and use what it prints")
	list := &cobra.Command{
		Use: "list", Short: "List the secrets and the skills that have them, without values", Example: "  skills-mcp secret list",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.list(cmd.Context()) },
	}
	list.Flags().BoolVar(&c.json, "json", false, "print JSON")
	rm := &cobra.Command{
		Use: "rm NAME", Short: "Remove the value of a secret", Example: "  skills-mcp secret rm GITHUB_TOKEN",
		Long: "Remove the value of a secret. Its grants stay, and calls that need it fail.",
		RunE: func(_ *cobra.Command, args []string) error { return c.rm(args[0]) },
	}
	revoke := &cobra.Command{
		Use: "revoke SKILL NAME", Short: "Take a secret away from a skill", Example: "  skills-mcp secret revoke issues GITHUB_TOKEN",
		Long: "Take a secret away from a skill, also in servers that are running.", ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error { return c.revoke(cmd.Context(), args[0], args[1]) },
	}
	cmd.AddCommand(set, list, rm, newSecretGrantCommand(c), revoke)
	return cmd
}

func newSecretGrantCommand(c *secretCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grant SKILL NAME",
		Short: "Let a skill use a secret at the hosts that you name",
		Long: `Let a skill use a secret in requests to the hosts that you name, over TLS. The calls
of the skill are asked about then, on a terminal or the page. It is asked on a
terminal whether you mean it.

Without --header the variable NAME, or that of --as, holds a text of the secret's
shape, and the proxy exchanges it in the query and in header fields for
credentials; --in changes that. With --header the skill has nothing, and the proxy
adds the field. With --plain the skill sees the value, for programs that sign with
it: nothing but the hosts of its network bounds where it can send it.`,
		Example: `  skills-mcp secret grant issues GITHUB_TOKEN --host api.github.com --path '/repos/**'
  skills-mcp secret grant weather KEY --host api.example.com --header 'X-Api-Key'`,
		ValidArgsFunction: c.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.grantSecret(cmd.Context(), args[0], args[1]) },
	}
	f, g := cmd.Flags(), &c.given
	f.StringArrayVar(&g.Hosts, "host", nil, "send it to `HOST`, at port 443 without one (repeatable)")
	f.StringSliceVar(&g.Methods, "method", nil, "in requests of `METHOD`, such as GET; default: all (repeatable)")
	f.StringArrayVar(&g.Paths, "path", nil, "in requests whose path matches `PATTERN`, such as '/repos/**'; default: all (repeatable)")
	f.StringSliceVar(&g.In, "in", nil, "exchange it in `PART`: header, query, path, body; default: header,query")
	f.StringVar(&g.Header, "header", "", "add it as `FIELD`, such as 'Authorization: Bearer', and give the skill nothing")
	f.StringVar(&g.As, "as", "", "use the variable `NAME`; default: that of the secret")
	f.BoolVar(&g.Plain, "plain", false, "let the skill see the value")
	complete(cmd, "in", []string{"header", "query", "path", "body"})
	return cmd
}

// maxInput bounds what is read of standard input: more than a value has.
const maxInput = 1 << 20

func (c *secretCommand) set(ctx context.Context, name string) error {
	if err := secrets.CheckName(name); err != nil {
		return exitcode.Usage(err)
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	if c.command != "" {
		err = s.Secrets.SetCommand("", name, c.command)
	} else {
		var value string
		if value, err = readSecret(ctx, c.app, name); err == nil {
			err = s.Secrets.Set("", name, value)
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "%s is kept, with the key in %s; skills-mcp secret grant SKILL %s --host HOST lets a skill use it\n", name, s.Secrets.Place(), name)
	return err
}

// readSecret reads a value from the terminal, or from standard input to its end.
func readSecret(ctx context.Context, a *app, name string) (string, error) {
	if isTerminal(a.stdin) {
		terminal, err := newTerminal(a.stdin, a.stderr, a.proof(""))
		if err != nil {
			return "", err
		}
		return terminal.Hidden(ctx, "The value of "+name+", which is not shown: ")
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxInput))
	if err != nil {
		return "", fmt.Errorf("read the value from standard input: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

func (c *secretCommand) rm(name string) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	if err := s.Secrets.Remove("", name); errors.Is(err, secrets.ErrNone) {
		return exitcode.Usage(fmt.Errorf("there is no secret %q; skills-mcp secret list names them", plain.Visible(name)))
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "%s is removed; replace it where it was issued, if somebody may have seen it\n", name)
	return err
}

// A secretRow describes a secret in a list.
type secretRow struct {
	Name   string   `json:"name"`
	Owner  string   `json:"owner,omitempty"`
	Kind   string   `json:"kind"`
	Grants []string `json:"grants"`
}

func (c *secretCommand) list(ctx context.Context) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	entries, err := s.Secrets.List()
	if err != nil {
		return err
	}
	granted := grantedSecrets(ctx, s)
	var rows []secretRow
	for _, e := range entries {
		kind := "value"
		if e.Command != "" {
			kind = "command: " + e.Command
		}
		rows = append(rows, secretRow{e.Name, e.Owner, kind, append([]string{}, granted[e.Name]...)})
		delete(granted, e.Name)
	}
	for name, to := range granted {
		rows = append(rows, secretRow{name, "", "no value", to})
	}
	slices.SortStableFunc(rows, func(a, b secretRow) int { return strings.Compare(a.Owner+a.Name, b.Owner+b.Name) })
	if !c.json && len(entries) > 0 {
		fmt.Fprintf(c.stderr, "sealed; the key is in %s\n", s.Secrets.Place())
	}
	return listing[secretRow]{
		key: "secrets", none: "there are no secrets; skills-mcp secret set NAME keeps one", headings: "NAME\tKIND\tGRANTED TO", optional: []string{"KIND"},
		row: func(r secretRow) string {
			return fmt.Sprintf("%s\t%s\t%s", plain.Visible(r.Name), plain.Visible(r.Kind), plain.Visible(strings.Join(r.Grants, "; ")))
		},
	}.print(c.app, c.json, rows)
}

// grantedSecrets returns the skills, with the terms, that each secret is granted to.
func grantedSecrets(ctx context.Context, s *setup.Settings) map[string][]string {
	all := map[string][]string{}
	for _, r := range slices.Concat(s.Sandboxes.Rules.Rules, s.Sandboxes.Rules.Book.Rules(ctx)) {
		for _, g := range r.Secrets {
			_, terms, _ := strings.Cut(g.String(), ", ")
			all[g.Name] = append(all[g.Name], r.Pattern+" ("+terms+")")
		}
	}
	return all
}

func (c *secretCommand) grantSecret(ctx context.Context, skill, name string) error {
	c.given.Name = name
	if err := policy.CheckSecret(&c.given); err != nil {
		return exitcode.Usage(err)
	}
	if !policy.PublicSecret(c.given) {
		return exitcode.Usage(errors.New("one of the hosts is not public; such addresses are granted in the configuration: policy.skills"))
	}
	r, err := c.open(ctx, skill)
	if err != nil {
		return err
	}
	if by := r.configured(&policy.Rule{Secrets: []run.SecretGrant{c.given}}); by != "" {
		return exitcode.Usage(fmt.Errorf("%s already; change it there, as the configuration comes first", by))
	}
	snap, err := report.SnapshotOf(ctx, r.skill)
	if err != nil {
		return err
	}
	r.rule.AddSecret(c.given)
	r.rule.Digest = snap.Digest
	if err := c.make(ctx, r); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "granted; skills-mcp secret revoke %s %s takes it away\n", plain.Visible(skill), name)
	if !r.Secrets.Has("", name) {
		fmt.Fprintf(c.stderr, "it has no value yet: skills-mcp secret set %s\n", name)
	}
	return nil
}

func (c *secretCommand) revoke(ctx context.Context, skill, name string) error {
	r, err := c.open(ctx, skill)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(r.rule.Secrets), func(g run.SecretGrant) bool { return g.Name == name })
	if len(left) == len(r.rule.Secrets) {
		return exitcode.Usage(fmt.Errorf("%s has no grant of yours for %q; skills-mcp secret list names the grants, and those of the configuration are changed there", plain.Visible(r.rule.Pattern), plain.Visible(name)))
	}
	if r.rule.Secrets = left; len(left) == 0 {
		r.rule.Secrets = nil
	}
	if err := r.put(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "%s does not have %s any more\n", plain.Visible(r.rule.Pattern), name)
	return err
}
