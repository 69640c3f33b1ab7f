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
	"github.com/skillsmcp/skills-mcp/server/manage"
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
which does not show it, or from standard input, such as a file; arguments are seen by
others. With --from-command nothing is kept but the command, which runs at each use.`,
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

Without --header the variable NAME, or that of --as, or a file of the run's home
folder, holds a text of the secret's shape, and the proxy exchanges it in the query
and in header fields for credentials; --in changes that. Of a value that has more
than the secret, such as a .netrc, --extract names the secret. With --header the
skill has nothing, and the proxy adds the field. With --plain the skill sees the
value, for programs that sign with it and for databases: nothing but the hosts of its
network bounds where it can send it.`,
		Example: `  skills-mcp secret grant issues GITHUB_TOKEN --host api.github.com --path '/repos/**'
  skills-mcp secret grant weather KEY --host api.example.com --header 'X-Api-Key'
  skills-mcp secret grant fetch NETRC --host api.example.com --file '~/.netrc' --extract 'password (\S+)'`,
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
	f.StringVar(&g.File, "file", "", "put it into `FILE` of the run's home folder, such as ~/.netrc, in place of a variable")
	f.StringVar(&g.Extract, "extract", "", "mask only what the group of `PATTERN` matches in the value, such as 'password (\\S+)'")
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
		err = s.Secrets.Store.SetCommand("", name, c.command)
	} else {
		var value string
		if value, err = readSecret(ctx, c.app, name); err == nil {
			err = s.Secrets.Set("", name, value)
		}
	}
	if err != nil {
		return usage(err)
	}
	_, err = fmt.Fprintf(c.stderr, "%s is kept, with the key in %s; skills-mcp secret grant SKILL %s --host HOST lets a skill use it\n", name, s.Secrets.Store.Place(), name)
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
	if err := s.Secrets.Remove("", name); err != nil {
		return usage(err)
	}
	_, err = fmt.Fprintf(c.stderr, "%s is removed; replace it where it was issued, if somebody may have seen it\n", name)
	return err
}

// usage returns an error that the caller of an operation can mend as wrong usage.
func usage(err error) error {
	if e, ok := errors.AsType[*run.Error](err); ok && e.Code != run.PermissionDenied {
		return exitcode.Usage(err)
	}
	return err
}

func (c *secretCommand) list(ctx context.Context) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	rows, err := s.Secrets.List(ctx, "")
	if err != nil {
		return err
	}
	if !c.json && slices.ContainsFunc(rows, func(r manage.Secret) bool { return !r.Set.IsZero() }) {
		fmt.Fprintf(c.stderr, "sealed; the key is in %s\n", s.Secrets.Store.Place())
	}
	return listing[manage.Secret]{
		key: "secrets", none: "there are no secrets; skills-mcp secret set NAME keeps one", headings: "NAME\tKIND\tGRANTED TO", optional: []string{"KIND"},
		row: func(r manage.Secret) string {
			grants := make([]string, len(r.Grants))
			for i, g := range r.Grants {
				grants[i] = g.Skill + " (" + g.Terms + ")"
			}
			return fmt.Sprintf("%s\t%s\t%s", plain.Visible(r.Name), plain.Visible(r.Kind), plain.Visible(strings.Join(grants, "; ")))
		},
	}.print(c.app, c.json, rows)
}

func (c *secretCommand) grantSecret(ctx context.Context, skill, name string) error {
	r, err := c.open(ctx, skill)
	if err != nil {
		return err
	}
	c.given.Name = name
	p, err := r.Secrets.Propose(ctx, r.skill, c.given)
	if err != nil {
		return usage(err)
	}
	r.rule = p.Rule
	if err := c.make(ctx, r); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "granted, and its calls are asked about; skills-mcp secret revoke %s %s takes it away\n", plain.Visible(skill), name)
	if !r.Secrets.Store.Has("", name) {
		fmt.Fprintf(c.stderr, "it has no value yet: skills-mcp secret set %s\n", name)
	}
	return nil
}

func (c *secretCommand) revoke(ctx context.Context, skill, name string) error {
	s, found, _, err := c.skill(ctx, skill)
	switch {
	case s == nil:
		return err
	case err == nil: // else it is gone, and its grant is not
		skill = found.QualifiedName()
	}
	if err := s.Secrets.Revoke(ctx, skill, name); err != nil {
		return usage(err)
	}
	_, err = fmt.Fprintf(c.stderr, "%s does not have %s any more\n", plain.Visible(skill), name)
	return err
}
