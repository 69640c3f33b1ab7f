package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
	"github.com/spf13/cobra"
)

// tokenCommand makes the tokens of people and programs that use this server.
type tokenCommand struct {
	consent
	profiles, scopes []string
	expires          string
	json             bool
}

func newTokenCommand(a *app) *cobra.Command {
	c := &tokenCommand{consent: consent{app: a}}
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make and revoke tokens for people and programs that use this server",
		Long: `Make and revoke tokens for people and programs that use this server over HTTP. Each
name is a caller of its own, with its own runs, questions and share of the slots.
Servers that are running follow at once.`,
		Example: "  skills-mcp token add ann --profile dev --expires 90d",
	}
	add := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token, and show it once",
		Long: `Make a token, and show it once: only its hash is stored. Clients send it as "Authorization:
Bearer TOKEN". Of several profiles the first is its default; without --profile it has
that of the server, or may choose any if that has none.

The scopes are read (find and read skills), run (also call them; the default), admin
(also install skills, and see the runs of all) and approve (answer questions about its
own calls). For admin and approve, and where policy.passphrase is set, you are asked
on the terminal.`,
		Example: "  skills-mcp token add ann --profile dev --expires 90d",
		RunE:    with(c.settings, c.add),
	}
	f := add.Flags()
	f.StringArrayVar(&c.profiles, "profile", nil, "let it use the `PROFILE` (repeatable)")
	f.StringArrayVar(&c.scopes, "scope", nil, "let it do what `SCOPE` says: read, run, admin or approve (repeatable; default run)")
	f.StringVar(&c.expires, "expires", "", "end it after `TIME`, such as 90d or 12h (default: never)")
	complete(add, "scope", []string{"read", "run", "admin", "approve"})
	list := &cobra.Command{
		Use: "list", Short: "List the tokens, without their texts", Example: "  skills-mcp token list",
		RunE: with(c.settings, c.list),
	}
	list.Flags().BoolVar(&c.json, "json", false, "print JSON")
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "End a token, its streams and its link", Example: "  skills-mcp token revoke ann",
		RunE: with(c.settings, c.revoke), ValidArgsFunction: c.completeTokens,
	}
	link := &cobra.Command{
		Use:   "link NAME",
		Short: "Make a link that signs the holder of a token in on the page",
		Long: `Make a link that signs the holder of a token in on the page of a server (serve --ui),
once and within 24 hours. There they answer the questions about their own calls, and
no other's. You are asked on the terminal. An older link of the token ends.`,
		Example: "  skills-mcp token link ann",
		RunE:    with(c.settings, c.link), ValidArgsFunction: c.completeTokens,
	}
	add.ValidArgsFunction = cobra.NoFileCompletions
	completeBy(add, "profile", completeProfiles(a))
	c.register(add)
	c.register(link)
	cmd.AddCommand(add, list, revoke, link)
	return cmd
}

func (c *tokenCommand) add(ctx context.Context, s *setup.Settings, args []string) error {
	token := tokens.Token{Name: args[0], Profiles: c.profiles}
	for _, profile := range c.profiles {
		if err := setup.CheckProfile(s.Profiles, "--profile", profile); err != nil {
			return err
		}
	}
	for _, name := range append(c.scopes, []string{"run"}[:max(0, 1-len(c.scopes))]...) {
		scope := identity.Scope("skills:" + name)
		if !slices.Contains(identity.Scopes(), scope) {
			return exitcode.Usage(fmt.Errorf("--scope is %q; write read, run, admin or approve", name))
		}
		token.Scopes = append(token.Scopes, scope)
	}
	if c.expires != "" {
		life, err := config.ParseAge(c.expires)
		if err != nil || life <= 0 {
			return exitcode.Usage(fmt.Errorf("--expires is %q; write for example 90d or 12h", c.expires))
		}
		token.Expires = time.Now().Add(life).UTC().Truncate(time.Second)
	}
	p := token.Principal()
	if s.Policy.Passphrase != "" || p.May(identity.ScopeAdmin) || p.May(identity.ScopeApprove) {
		if err := c.confirmed(ctx, s, "make a token for "+token.Name, "its scopes are "+join(token.Scopes)); err != nil {
			return err
		}
	}
	text, err := s.Tokens.Add(ctx, token)
	if errors.Is(err, tokens.ErrTaken) {
		err = fmt.Errorf("%w; for another, first: skills-mcp token revoke %s", err, token.Name)
	}
	if err != nil {
		return exitcode.Usage(err)
	}
	fmt.Fprintln(c.stderr, "this is shown once; clients send it as Authorization: Bearer TOKEN")
	_, err = fmt.Fprintln(c.stdout, text)
	return err
}

// confirmed asks the person on the terminal, or has the token of a script prove them.
func (c *tokenCommand) confirmed(ctx context.Context, s *setup.Settings, action, line string) error {
	if c.yes {
		return c.provedScript(s)
	}
	return c.confirmShown(ctx, []string{line}, action)
}

func (c *tokenCommand) list(ctx context.Context, s *setup.Settings, _ []string) error {
	all, err := s.Tokens.List(ctx)
	if err != nil {
		return err
	}
	type listed struct {
		Name     string           `json:"name"`
		Profiles []string         `json:"profiles"`
		Scopes   []identity.Scope `json:"scopes"`
		Created  time.Time        `json:"created"`
		Expires  time.Time        `json:"expires,omitzero"`
		Expired  bool             `json:"expired"`
	}
	var rows []listed
	for _, t := range all {
		rows = append(rows, listed{t.Name, append([]string{}, t.Profiles...), t.Scopes, t.Created, t.Expires, t.Expired()})
	}
	return listing[listed]{
		key: "tokens", none: "there are no tokens; skills-mcp token add NAME makes one", headings: "NAME\tPROFILES\tSCOPES\tCREATED\tEXPIRES", optional: []string{"CREATED"},
		row: func(t listed) string {
			expires := cmp.Or(plain.Day(t.Expires), "never")
			if t.Expired {
				expires = "has expired"
			}
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", t.Name, plain.Visible(cmp.Or(strings.Join(t.Profiles, ", "), "all")), join(t.Scopes), plain.Day(t.Created), expires)
		},
	}.print(c.app, c.json, rows)
}

// join lists scopes as they are written in flags.
func join(scopes []identity.Scope) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = strings.TrimPrefix(string(scope), "skills:")
	}
	return strings.Join(names, ", ")
}

func (c *tokenCommand) revoke(ctx context.Context, s *setup.Settings, args []string) error {
	found, err := s.Tokens.Revoke(ctx, args[0])
	if err == nil && !found {
		err = c.unknown(args[0])
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "the token %s has ended\n", plain.Visible(args[0]))
	return err
}

func (c *tokenCommand) unknown(name string) error {
	return exitcode.Usage(fmt.Errorf("there is no token %q; skills-mcp token list lists them", name))
}

func (c *tokenCommand) link(ctx context.Context, s *setup.Settings, args []string) error {
	if _, ok := s.Tokens.Named(ctx, args[0]); !ok {
		return c.unknown(args[0])
	}
	if err := c.confirmed(ctx, s, "make a sign-in link for "+args[0], "who opens it first answers the questions of "+args[0]); err != nil {
		return err
	}
	text, err := s.Tokens.NewLink(ctx, args[0])
	if err != nil {
		return err
	}
	address := "http://" + s.Serve.Listen
	if s.Serve.TLS.Cert != "" {
		address = "https://" + s.Serve.Listen
	}
	_, err = fmt.Fprintln(c.stdout, cmp.Or(s.Serve.URL, address)+signin.LinkPath+text)
	return err
}

// completeTokens completes the names of tokens.
func (c *tokenCommand) completeTokens(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.settings()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := s.Tokens.List(cmd.Context())
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
