package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/install/download"
)

// runClawHub asks the ClawHub registry of the configuration. The answer is a stranger's.
func (c *searchCommand) runClawHub(ctx context.Context, query string) error {
	switch {
	case c.limit < 1:
		return usageError(fmt.Errorf("--limit is %d; write 1 or more", c.limit))
	case len(c.alternatives) > 0 || c.source != "":
		return usageError(errors.New("--or and --source are for your own skills; leave them out with --clawhub"))
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	client := download.New(&download.Options{Public: egress.Public, UserAgent: userAgent()})
	defer client.Close()
	hits, err := clawhub.New(client, &clawhub.Options{Registry: s.Install.ClawHub}).Search(ctx, "", query, c.limit)
	if err != nil {
		return errors.New(visible(err.Error()))
	}
	if c.json {
		return c.printJSON(map[string]any{"skills": nonNil(hits)})
	}
	if len(hits) == 0 {
		_, err := fmt.Fprintln(c.stderr, "no skill of ClawHub matches; try other words")
		return err
	}
	err = table(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "SOURCE\tVERSION\tDOWNLOADS\tDESCRIPTION")
		for _, hit := range hits {
			fmt.Fprintf(w, "clawhub:%s\t%s\t%d\t%s\n", visible(hit.Name), visible(hit.Version), hit.Downloads, oneLine(hit.Summary, 70))
		}
	})
	fmt.Fprintln(c.stderr, "to look at one: skills-mcp install SOURCE --dry-run")
	return err
}
