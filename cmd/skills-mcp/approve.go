package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/spf13/cobra"
)

// An answerCommand answers a question, or withdraws an answer.
type answerCommand struct {
	*app
	as            string
	yes           bool
	newPassphrase bool
}

func newApproveCommand(a *app) *cobra.Command {
	c := &answerCommand{app: a}
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Look at a call that waits for your yes, and say yes to it",
		Long: `Show a call that waits for a person's yes, and ask for the answer. That needs a
terminal, and a number that is shown after the question: nothing that was prepared
or piped approves a call. Then the same call succeeds once. A word after the number
is a yes for more calls, by a rule that the question shows.

With policy.passphrase in the configuration it asks for that passphrase, too. A
second person of policy.approvers confirms with --as NAME and a passphrase of their
own. --new-passphrase asks for a passphrase and prints the hash for either.

--yes is for scripts: it asks nobody, and needs the token of policy.script_token in
the variable SKILLS_MCP_APPROVAL_TOKEN.`,
		Example: "  skills-mcp approve k3x7q2m4ab\n  skills-mcp approve k3x7q2m4ab --as bea",
		Args: func(cmd *cobra.Command, args []string) error {
			if c.newPassphrase {
				return noArguments(args)
			}
			return checkArguments(cmd, args)
		},
		ValidArgsFunction: c.completeIDs("pending"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.newPassphrase {
				return c.hashPassphrase(cmd.Context())
			}
			return c.approve(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&c.as, "as", "", "confirm as the second person `NAME` of policy.approvers")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "approve once without a question, with the token of policy.script_token")
	cmd.Flags().BoolVar(&c.newPassphrase, "new-passphrase", false, "ask for a new passphrase and print its hash")
	return cmd
}

func (c *answerCommand) hashPassphrase(ctx context.Context) error {
	terminal, err := newTerminal(c.stdin, c.stderr, nil)
	if err != nil {
		return err
	}
	text, err := terminal.NewPassphrase(ctx)
	if err != nil {
		return err
	}
	hash, err := approval.HashPassphrase(text)
	if err == nil {
		_, err = fmt.Fprintln(c.stdout, hash)
	}
	return err
}

func (c *answerCommand) approve(ctx context.Context, id string) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	who, hash, err := c.signer(s)
	if err != nil {
		return err
	}
	if c.yes {
		r, err := s.Approvals(nil).Open(ctx, id, who)
		if err == nil {
			err = c.confirm(ctx, r, who, approval.Once)
		}
		return err
	}
	terminal, err := newTerminal(c.stdin, c.stderr, c.proof(hash))
	if err != nil {
		return fmt.Errorf("%w; run skills-mcp approve %s yourself, in a terminal of your own", err, plain.Visible(id))
	}
	r, err := s.Approvals(nil).Open(ctx, id, who)
	if err != nil {
		return err
	}
	scope, err := terminal.Confirm(ctx, r.Shown())
	if err != nil {
		return err
	}
	if scope == approval.No {
		return fmt.Errorf("%s was not approved; it waits until %s, and skills-mcp deny %s refuses it", id, r.Expires.Format("15:04"), id)
	}
	return c.confirm(ctx, r, who, scope)
}

// signer returns the person who answers, and the hash of the passphrase that proves it; ""
// is none. The token of a script is proved here.
func (c *answerCommand) signer(s *setup.Settings) (who approval.Signer, hash string, err error) {
	switch {
	case c.yes && c.as != "":
		return who, "", exitcode.Usage(errors.New("--yes is the answer of a script, and --as that of a person; give one of them"))
	case c.yes:
		return approval.Local(), "", c.provedScript(s)
	}
	return setup.Passphrases(s.Config).Signer(c.as)
}

// confirm records the answer and prints its effect.
func (c *answerCommand) confirm(ctx context.Context, r *approval.Record, who approval.Signer, scope approval.Scope) error {
	s, err := c.settingsFor(ctx, r.Question.Trust)
	if err == nil {
		way := approval.ByTerminal
		if c.yes {
			way = approval.ByScript
		}
		err = s.Approvals(nil).Confirm(ctx, r, who, way, scope)
	}
	switch {
	case err != nil:
	case len(r.Signatures) < r.Needed:
		_, err = fmt.Fprintf(c.stderr, "confirmed; a second person has to confirm it, too: skills-mcp approve %s --as NAME\n", r.ID)
	case r.Question.Fetch != nil:
		_, err = fmt.Fprintf(c.stderr, "approved: %s is fetched when it is loaded again\n", plain.Visible(r.Question.Skill))
	case scope != approval.Once:
		_, err = fmt.Fprintf(c.stderr, "%s\nIt counts until %s: skills-mcp revoke %s withdraws it\n", r.Question.Becomes(scope), r.Expires.Format(time.DateOnly), r.ID)
	default:
		_, err = fmt.Fprintf(c.stderr, "approved: the same call succeeds once, until %s\n", r.Expires.Format("15:04"))
	}
	return err
}

// settingsFor returns the settings in which a question about trust in a workspace is
// answered: those for the workspace, whose skills have been read. nil is no such question.
func (c *answerCommand) settingsFor(ctx context.Context, t *run.Trust) (*setup.Settings, error) {
	s, err := c.settings()
	if err != nil || t == nil {
		return s, err
	}
	return s.For(ctx, t.Workspace)
}

func newDenyCommand(a *app) *cobra.Command {
	c := &answerCommand{app: a}
	return &cobra.Command{
		Use:               "deny ID",
		Short:             "Say no to a call that waits for your yes",
		Long:              "Say no to a call that waits for a person's yes. The same call is refused then,\nuntil the question would have expired.",
		Example:           "  skills-mcp deny k3x7q2m4ab",
		ValidArgsFunction: c.completeIDs("pending"),
		RunE:              with(c.settings, c.deny),
	}
}

func (c *answerCommand) deny(ctx context.Context, s *setup.Settings, args []string) error {
	r, err := s.Approvals(nil).Deny(ctx, args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "denied: %s does not run for this call\n", plain.Visible(r.Question.Skill))
	return err
}

func newRevokeCommand(a *app) *cobra.Command {
	c := &answerCommand{app: a}
	return &cobra.Command{
		Use:   "revoke ID|NAME",
		Short: "Withdraw an approval, or all of a skill",
		Long: `Withdraw the approval of an ID, or all approvals and open questions of a skill. Its
next call is asked about again. The consent to the files of a skill of another MCP
server goes with its approvals.`,
		Example:           "  skills-mcp revoke docx",
		ValidArgsFunction: c.completeIDs(""),
		RunE:              with(c.settings, c.revoke),
	}
}

func (c *answerCommand) revoke(ctx context.Context, s *setup.Settings, args []string) error {
	idOrName := args[0]
	consent, err := revokeConsent(ctx, s, idOrName)
	if err != nil {
		return err
	}
	revoked, err := s.Approvals(nil).Revoke(ctx, idOrName)
	if consent {
		fmt.Fprintf(c.stderr, "revoked the consent to the files of %s\n", plain.Visible(idOrName))
		if len(revoked) == 0 {
			return nil
		}
	}
	for _, r := range revoked {
		fmt.Fprintf(c.stderr, "revoked %s of %s\n", r.ID, plain.Visible(r.Question.Skill))
	}
	return err
}

// revokeConsent withdraws the consent to the files of a skill of another MCP server. It
// reports whether there was one.
func revokeConsent(ctx context.Context, s *setup.Settings, name string) (bool, error) {
	if all, err := s.Host.Servers(ctx); err != nil || len(all) == 0 {
		return false, err
	}
	catalog, err := s.Scan(ctx)
	if err != nil {
		return false, err
	}
	skill, err := catalog.Lookup(name)
	if err != nil {
		return false, nil // it may be the name of an approval
	}
	return s.Host.Revoke(ctx, skill)
}

// completeIDs completes the IDs of approvals in a state; "" is any.
func (c *answerCommand) completeIDs(state string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := c.settings()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		list, err := s.Approvals(nil).List(cmd.Context(), false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []string
		for _, r := range list {
			if state == "" || r.State == state {
				ids = append(ids, r.ID+"\t"+plain.OneLine(r.Question.Skill, 40)+", "+r.State)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
