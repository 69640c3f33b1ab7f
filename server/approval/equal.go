package approval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

const (
	// patience is the time for which a call waits for the answer to an equal one: a client
	// may have left the form of that.
	patience = 30 * time.Second
	// maxEqual is the number of calls that wait so for one answer.
	maxEqual = 32
)

// questions holds the open questions of a process, one for equal calls of a client.
type questions struct {
	mu   sync.Mutex // guards the field, and the waiting calls of its values
	open map[questionKey]*openQuestion
}

type questionKey struct {
	client identity.Key
	exact  Binding
}

// key names the calls that are one question.
func (c *call) key() questionKey { return questionKey{c.Principal.Key(), c.exact} }

// An openQuestion is one that the first of some equal calls asks.
type openQuestion struct {
	done    chan struct{} // closed when it has an answer
	err     error         // of the first call; valid after done
	waiting int           // calls
}

// once calls ask for the first of some equal calls, and returns its result. For another one
// it waits for the first, and done reports whether err is the result of this one, too:
// else the call has to look for an approval, or ask, again.
func (q *questions) once(ctx context.Context, c *call, ask func() error) (first, done bool, err error) {
	key := c.key()
	q.mu.Lock()
	asked := q.open[key]
	if asked == nil {
		asked = &openQuestion{done: make(chan struct{}), err: context.Canceled} // unless ask returns
		q.open[key] = asked
		q.mu.Unlock()
		defer func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			delete(q.open, key)
			close(asked.done)
		}()
		asked.err = ask()
		return true, true, asked.err
	}
	asked.waiting++
	late := time.NewTimer(patience)
	if asked.waiting > maxEqual {
		late.Reset(0)
	}
	q.mu.Unlock()
	defer func() {
		late.Stop()
		q.mu.Lock()
		defer q.mu.Unlock()
		asked.waiting--
	}()
	select {
	case <-asked.done:
		_, answered := errors.AsType[*run.Error](asked.err)
		return false, answered || asked.err == nil, asked.err
	case <-late.C:
		return false, true, errCannotAsk
	case <-ctx.Done():
		return false, true, context.Cause(ctx)
	}
}

// used returns the error of a call whose equal was let run by the yes to both.
func used(c *call) error {
	why := fmt.Sprintf("skill %s did not run: the person said yes once, and an equal call at the same time has run with that", termtext.Visible(c.question.Skill))
	return (&run.Error{Code: run.ApprovalRequired, Message: why, Retryable: true}).Told("if it has to run twice, make the call again, which asks again")
}
