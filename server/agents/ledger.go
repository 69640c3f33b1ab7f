package agents

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// minReply is the smallest reply, in tokens, that is worth a request.
const minReply = 256

// errUsedUp ends the errors for a budget of a session or of one above it.
var errUsedUp = errors.New("is used up")

// A ledger counts the usage of a session with its descendants.
type ledger struct {
	parent     *ledger    // nil at the top
	settled    *sync.Cond // of the tree, with the mutex of its ledgers
	budget     Budget
	used, held Used // held is reserved by requests that are on their way
}

// newLedger returns the ledger of a session below parent, which may be nil.
func newLedger(parent *ledger, budget Budget) *ledger {
	if parent == nil {
		return &ledger{settled: sync.NewCond(new(sync.Mutex)), budget: budget}
	}
	return &ledger{parent: parent, settled: parent.settled, budget: budget}
}

// left returns the rest of the session's budget, or the error for its own or one
// above it.
func (l *ledger) left() (Budget, error) {
	l.settled.L.Lock()
	defer l.settled.L.Unlock()
	_, err := l.room(&Model{Price: Price{Output: 1}}, 0, 1, false)
	b, u := l.budget, l.used
	return Budget{max(0, b.Turns-u.Turns), max(0, b.Tokens-u.Tokens), max(0, b.Cost-u.Cost)}, err
}

// spent returns the usage of the session's budget.
func (l *ledger) spent() Used {
	l.settled.L.Lock()
	defer l.settled.L.Unlock()
	return l.used
}

// reserve holds a turn for a request of in tokens and a reply of at most out tokens, in the
// budgets of the session and all above it. It returns how many tokens the reply may have,
// which are fewer where a budget ends, and a function that has to be called with the usage.
// While requests of other sessions hold tokens that this one needs, it waits for their usage.
func (l *ledger) reserve(ctx context.Context, m *Model, in, out int) (reply int, settle func(chat.Usage), err error) {
	l.settled.L.Lock()
	defer l.settled.L.Unlock()
	defer context.AfterFunc(ctx, func() {
		l.settled.L.Lock()
		defer l.settled.L.Unlock()
		l.settled.Broadcast()
	})()
	for {
		room, err := l.room(m, in, min(out, minReply), false)
		if err != nil {
			return 0, nil, err
		}
		reply = min(out, room)
		if free, err := l.room(m, in, 0, true); err == nil && free >= reply {
			break
		}
		if l.settled.Wait(); ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
	}
	held := m.charge(chat.Usage{Input: in, Output: reply})
	for a := l; a != nil; a = a.parent {
		a.held = a.held.plus(held, 1)
	}
	return reply, func(u chat.Usage) { l.settle(held, m.charge(u)) }, nil
}

// settle replaces a reservation by the usage.
func (l *ledger) settle(held, used Used) {
	l.settled.L.Lock()
	defer l.settled.L.Unlock()
	for a := l; a != nil; a = a.parent {
		a.used = a.used.plus(used, 1)
		if a.held = a.held.plus(held, -1); a.held.Turns == 0 {
			a.held = Used{} // a rest of the cost's subtraction would have reserve wait for nobody
		}
	}
	l.settled.Broadcast()
}

func (u Used) plus(o Used, sign int) Used {
	return Used{u.Turns + sign*o.Turns, u.Tokens + sign*o.Tokens, u.Cost + float64(sign)*o.Cost}
}

// charge returns the usage of one request.
func (m *Model) charge(u chat.Usage) Used {
	return Used{1, u.Input + u.Output, (float64(u.Input)*m.Price.Input + float64(u.Output)*m.Price.Output) / 1e6}
}

// room returns the number of tokens that the reply to a request of in tokens may have, by
// all budgets. The error is for less than least. The requests on their way count with held.
func (l *ledger) room(m *Model, in, least int, held bool) (int, error) {
	room, request := math.MaxInt, m.charge(chat.Usage{Input: in})
	for ; l != nil; l = l.parent {
		after, b := l.used.plus(request, 1), l.budget
		if held {
			after = after.plus(l.held, 1)
		}
		if b.Turns > 0 && after.Turns > b.Turns {
			return 0, fmt.Errorf("the budget of %d turns %w", b.Turns, errUsedUp)
		}
		if b.Tokens > 0 {
			room = min(room, b.Tokens-after.Tokens)
			if room < least {
				return 0, fmt.Errorf("the budget of %d tokens %w", b.Tokens, errUsedUp)
			}
		}
		if b.Cost > 0 {
			if m.Price.Output > 0 {
				room = min(room, int((b.Cost-after.Cost)/m.Price.Output*1e6))
			}
			if after.Cost > b.Cost || room < least {
				return 0, fmt.Errorf("the budget of %g for the cost %w", b.Cost, errUsedUp)
			}
		}
	}
	return room, nil
}
