package endpoint

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/approval"
)

const (
	maxNotices    = 4 // commands that run at once
	noticeTimeout = 10 * time.Second
)

// A Notifier tells the person of questions that wait for their answer: with a line on a
// terminal, and with the command of notify in the configuration.
type Notifier struct {
	command  []string  // none is not run
	terminal io.Writer // nil is not written to
	page     func(id string) (address string, ok bool)
	logger   *slog.Logger
	slots    chan struct{} // one for each command
	running  sync.WaitGroup
}

func NewNotifier(s *setup.Settings, terminal io.Writer) *Notifier {
	return &Notifier{command: s.Notify, terminal: terminal, page: PagesOf(s).Approval, logger: s.Logger, slots: make(chan struct{}, maxNotices)}
}

// Notify tells of a question. It does not block.
func (n *Notifier) Notify(r *approval.Record) {
	// Its own words come first: a command could take a skill's name for an option.
	text := fmt.Sprintf("skills-mcp: %s waits for your yes", plain.Visible(r.Question.Skill))
	address, served := n.page(r.ID)
	if n.terminal != nil {
		where := "skills-mcp approve " + r.ID + " in a terminal, or skills-mcp ui"
		if served {
			where = address
		}
		fmt.Fprintf(n.terminal, "%s: %s\n", text, where)
	}
	if len(n.command) == 0 {
		return
	}
	select {
	case n.slots <- struct{}{}:
	default:
		n.logger.Warn("the command of notify is busy; a question is not notified", "approval", r.ID)
		return
	}
	n.running.Go(func() {
		defer func() { <-n.slots }()
		ctx, cancel := context.WithTimeout(context.Background(), noticeTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, n.command[0], append(n.command[1:len(n.command):len(n.command)], text)...)
		cmd.Env = append(os.Environ(), "SKILLS_MCP_APPROVAL="+r.ID, "SKILLS_MCP_PAGE="+address)
		cmd.WaitDelay = time.Second // of programs that it has left behind
		if err := cmd.Run(); err != nil {
			n.logger.Warn("the command of notify has failed", "command", n.command[0], "error", err)
		}
	})
}

// Close waits for the commands.
func (n *Notifier) Close() { n.running.Wait() }
