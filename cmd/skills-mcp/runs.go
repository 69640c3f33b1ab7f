package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/spf13/cobra"
)

// runsCommand shows the record of runs.
type runsCommand struct {
	*app
	skill, outcome, since string
	limit                 int
	follow, json          bool

	runs      store.Runs
	approvals *approval.Approvals
}

func newRunsCommand(a *app) *cobra.Command {
	c := &runsCommand{app: a}
	cmd := &cobra.Command{
		Use:   "runs [ID]",
		Short: "Show what skills have run, and what came of it",
		Long: `Show the record: a row for each call of a skill, by any client, with its outcome.
The newest come first. With ID, which may be the beginning of one, show all that is
recorded about a run.

The outcomes:
  ok           it ended well
  error        it ended with an error of its own: another exit code than 0, an output
               that is not as declared, or a result that says isError
  failed       it could not start, or a limit ended it
  refused      it is not allowed, or nobody has confirmed it
  invalid      the arguments were wrong
  undelivered  the call was cancelled, or its client left
  running      it has not ended
  interrupted  skills-mcp was ended while it ran

Arguments are recorded without the values of granted variables, and of parameters
that are marked as secret. The configuration bounds the record: record.keep, record.max.`,
		Example: `  skills-mcp runs --since 2h --outcome error
  skills-mcp runs --json --since 2026-01-01 > runs.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !c.json && !cmd.Flags().Changed("limit") {
				c.limit = 20
			}
			return c.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&c.follow, "follow", "f", false, "go on with new runs as they end, until it is interrupted")
	f.StringVar(&c.since, "since", "", "only runs since `TIME`: 90m, 2h or 7d ago, or a date such as 2026-01-31 or 2026-01-31T15:04")
	f.StringVar(&c.skill, "skill", "", "only runs of the skill `NAME`")
	f.StringVar(&c.outcome, "outcome", "", "only runs with `OUTCOME`, such as error")
	f.IntVar(&c.limit, "limit", 0, "at most `N` runs, 0 for all (default 20; with --json all)")
	f.BoolVar(&c.json, "json", false, "print a JSON object a line")
	complete(cmd, "outcome", audit.Outcomes())
	return cmd
}

func (c *runsCommand) run(ctx context.Context, args []string) error {
	filter, err := c.filter(time.Now())
	if err != nil {
		return exitcode.Usage(err)
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	c.runs, c.approvals = store.NewRuns(s.Store), s.Approvals(nil)
	if err := c.runs.Interrupt(ctx, audit.Alive); err != nil {
		s.Logger.Info("interrupted runs are not marked", "error", err)
	}
	switch {
	case len(args) == 1:
		return c.one(ctx, args[0])
	case c.follow:
		return c.tail(ctx, filter)
	}
	return c.list(ctx, filter)
}

// filter returns the filter of the flags.
func (c *runsCommand) filter(now time.Time) (f store.RunFilter, err error) {
	if c.limit < 0 {
		return f, fmt.Errorf("--limit is %d; write a number from 0", c.limit)
	}
	if c.outcome != "" && !slices.Contains(audit.Outcomes(), c.outcome) {
		return f, fmt.Errorf("--outcome is %q; write one of %s", c.outcome, strings.Join(audit.Outcomes(), ", "))
	}
	f = store.RunFilter{Skill: c.skill, Outcome: c.outcome}
	if c.since != "" {
		f.Since, err = parseSince(c.since, now)
	}
	return f, err
}

// parseSince returns a time that is so long ago, or a date.
func parseSince(text string, now time.Time) (time.Time, error) {
	if ago, err := config.ParseAge(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since is %q; write 90m, 2h or 7d, or a date such as 2026-01-31 or 2026-01-31T15:04", text)
}

// pageRows is the number of rows that are read at once: a long export keeps no read open.
const pageRows = 500

// pages calls show with the rows of a filter, a page at a time, until there are none, or
// --limit rows.
func (c *runsCommand) pages(ctx context.Context, f store.RunFilter, show func([]*store.Run) error) (rows int, err error) {
	for ctx.Err() == nil && (c.limit == 0 || rows < c.limit) {
		f.Limit = pageRows
		if c.limit > 0 {
			f.Limit = min(pageRows, c.limit-rows)
		}
		page, err := c.runs.List(ctx, f)
		if err != nil || len(page) == 0 {
			return rows, err
		}
		if err := show(page); err != nil {
			return rows, err
		}
		rows += len(page)
		f.Before = page[len(page)-1].Seq
	}
	return rows, context.Cause(ctx)
}

// list prints the rows of a filter, the newest first.
func (c *runsCommand) list(ctx context.Context, f store.RunFilter) error {
	var all []*store.Run
	rows, err := c.pages(ctx, f, func(page []*store.Run) error {
		if c.json {
			return c.printLines(page)
		}
		all = append(all, page...)
		return nil
	})
	if err != nil || c.json {
		return err
	}
	if rows == 0 {
		_, err := fmt.Fprintln(c.stderr, "no such runs are recorded")
		return err
	}
	return c.printRuns(all, true)
}

// pollTime is the time between two looks for new rows.
const pollTime = 300 * time.Millisecond

// tail prints the newest rows of a filter, the newest last, and then new ones, until it
// is interrupted.
func (c *runsCommand) tail(ctx context.Context, f store.RunFilter) error {
	newest := f
	newest.Limit = c.limit
	newest.Limit = cmp.Or(newest.Limit, pageRows)
	page, err := c.runs.List(ctx, newest)
	if err != nil {
		return err
	}
	slices.Reverse(page)
	f.Oldest, f.Limit = true, pageRows
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for first := true; ; first = false {
		if len(page) > 0 {
			f.After = page[len(page)-1].Seq
		}
		if err := c.printNew(page, first); err != nil {
			return err
		}
		if len(page) < pageRows {
			select {
			case <-ctx.Done():
				return exitcode.Silent(exitcode.OK)
			case <-tick.C:
			}
		}
		if page, err = c.runs.List(ctx, f); err != nil {
			return err
		}
	}
}

// printNew prints rows that --follow has found.
func (c *runsCommand) printNew(page []*store.Run, first bool) error {
	switch {
	case c.json:
		return c.printLines(page)
	case first || len(page) > 0:
		return c.printRuns(page, first)
	}
	return nil
}

// printLines prints a JSON object for each row. Invisible characters, and those that
// control a terminal, are escaped.
func (c *runsCommand) printLines(page []*store.Run) error {
	var lines bytes.Buffer
	for _, r := range page {
		if err := report.WriteJSONLine(&lines, r); err != nil {
			return err
		}
	}
	_, err := c.stdout.Write(lines.Bytes())
	return err
}

// printRuns prints a table, with headings if head is set.
func (c *runsCommand) printRuns(page []*store.Run, head bool) error {
	short := isTerminal(c.stdout)
	now := time.Now()
	t := terminal.Table{Headless: !head, Optional: []string{"BY", "TIME", "STARTED"}}
	return t.Rows(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSTARTED\tSKILL\tOUTCOME\tTIME\tBY\tABOUT")
		for _, r := range page {
			id := plain.Visible(r.ID)
			if short {
				id = strings.TrimSuffix(plain.OneLine(id, 14), "…")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id, report.When(r.Started, now), plain.Visible(report.Subject(r)), report.OutcomeText(r), report.Duration(r.Duration), plain.Visible(report.By(r)), plain.Visible(report.About(r)))
		}
	})
}

// one prints all that is recorded about the run whose ID begins with a text.
func (c *runsCommand) one(ctx context.Context, prefix string) error {
	found, err := c.runs.Find(ctx, prefix, 2)
	if err != nil {
		return err
	}
	exact := slices.IndexFunc(found, func(r *store.Run) bool { return r.ID == prefix })
	switch {
	case len(found) == 0:
		return fmt.Errorf("no run %s is recorded; runs lists those that are", plain.Visible(prefix))
	case exact < 0 && len(found) > 1 && found[0].ID != found[1].ID:
		return exitcode.Usage(fmt.Errorf("more than one run begins with %s; write more of its ID", plain.Visible(prefix)))
	}
	r := found[max(0, exact)]
	if c.json {
		return c.printLines([]*store.Run{r})
	}
	children, err := c.runs.List(ctx, store.RunFilter{Parent: r.ID, Oldest: true, Limit: pageRows})
	if err != nil {
		return err
	}
	var by string
	if r.Approval != "" {
		if answer, err := c.approvals.Find(ctx, r.Approval); err == nil {
			by = ": " + string(answer.Scope) + ", by " + report.SignedBy(answer)
		}
	}
	return report.PrintRun(c.stdout, r, by, children)
}
