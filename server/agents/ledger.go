package agents

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// minReply is the smallest reply, in tokens, that is worth a request.
const minReply = 256

// A BudgetError is returned where a budget of a session or of one above it is used up.
type BudgetError struct{ Budget string } // "50 turns"

// Error implements error.
func (e *BudgetError) Error() string { return "the budget of " + e.Budget + " is used up" }

// A ledger counts what a session and its descendants use of its budget.
type ledger struct {
	*books
	parent     *ledger // nil at the top
	budget     Budget
	used, held Used // held is reserved by requests that are on their way
}

// books are what the ledgers of one tree share.
type books struct {
	mu      sync.Mutex
	settled chan struct{} // closed, and replaced, when a request has been settled
}

// newLedger returns the ledger of a session below parent, which may be nil.
func newLedger(parent *ledger, budget Budget) *ledger {
	if parent != nil {
		return &ledger{books: parent.books, parent: parent, budget: budget}
	}
	return &ledger{books: &books{settled: make(chan struct{})}, budget: budget}
}

// left returns what is left of the budgets of the session and those above it, or a
// [BudgetError].
func (l *ledger) left() (Budget, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.room(&Model{OutputPrice: 1}, 0, 1, false); err != nil {
		return Budget{}, err
	}
	b := Budget{}
	for a := l; a != nil; a = a.parent {
		b.Turns = tighter(b.Turns, a.budget.Turns, a.used.Turns)
		b.Tokens = tighter(b.Tokens, a.budget.Tokens, a.used.Tokens)
		b.Cost = tighter(b.Cost, a.budget.Cost, a.used.Cost)
	}
	return b, nil
}

// tighter returns the smaller of a bound and what is left of a budget. Zero is no bound.
func tighter[N int | float64](bound, budget, used N) N {
	if budget == 0 || bound != 0 && bound <= budget-used {
		return bound
	}
	return budget - used
}

// spent returns what is gone of the session's budget.
func (l *ledger) spent() Used {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

// reserve holds a turn for a request of in tokens and a reply of at most out tokens, in the
// budgets of the session and all above it. It returns how many tokens the reply may have,
// which are fewer where a budget ends, and a function that has to be called with the usage.
// While requests of other sessions hold what this one needs, it waits for their usage.
func (l *ledger) reserve(ctx context.Context, m *Model, in, out int) (reply int, settle func(chat.Usage), err error) {
	for {
		reply, settled, err := l.hold(m, in, out)
		if err != nil {
			return 0, nil, err
		}
		if settled == nil {
			return reply, func(u chat.Usage) { l.settle(m, chat.Usage{Input: in, Output: reply}, u) }, nil
		}
		select {
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		case <-settled:
		}
	}
}

// hold reserves, or returns a channel that is closed when it is to be tried again.
func (l *ledger) hold(m *Model, in, out int) (reply int, settled <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	room, err := l.room(m, in, min(out, minReply), false)
	if err != nil {
		return 0, nil, err
	}
	reply = min(out, room)
	if free, err := l.room(m, in, 0, true); err != nil || free < reply {
		return 0, l.settled, nil
	}
	l.charge(func(a *ledger) { a.held.add(m, chat.Usage{Input: in, Output: reply}, 1) })
	return reply, nil, nil
}

// settle replaces what was held by what was used.
func (l *ledger) settle(m *Model, held, used chat.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.charge(func(a *ledger) {
		a.held.add(m, held, -1)
		a.used.add(m, used, 1)
		if a.held.Turns == 0 {
			a.held = Used{} // without the remainder of the cost's subtraction
		}
	})
	close(l.settled)
	l.settled = make(chan struct{})
}

// charge calls change for the session and all above it.
func (l *ledger) charge(change func(*ledger)) {
	for a := l; a != nil; a = a.parent {
		change(a)
	}
}

// add adds one request, or with sign -1 takes it off.
func (u *Used) add(m *Model, usage chat.Usage, sign int) {
	u.Turns += sign
	u.Tokens += sign * (usage.Input + usage.Output)
	u.Cost += float64(sign) * m.cost(usage)
}

// cost returns the cost of a request and its reply.
func (m *Model) cost(u chat.Usage) float64 {
	return (float64(u.Input)*m.InputPrice + float64(u.Output)*m.OutputPrice) / 1e6
}

// room returns the number of tokens that the reply to a request of in tokens may have, by
// all budgets. The error is for less than least. The requests on their way count with held.
func (l *ledger) room(m *Model, in, least int, held bool) (int, error) {
	room := math.MaxInt
	for a := l; a != nil; a = a.parent {
		used, b := a.used, a.budget
		if held {
			used = Used{used.Turns + a.held.Turns, used.Tokens + a.held.Tokens, used.Cost + a.held.Cost}
		}
		if b.Turns > 0 && used.Turns >= b.Turns {
			return 0, &BudgetError{fmt.Sprintf("%d turns", b.Turns)}
		}
		if b.Tokens > 0 {
			room = min(room, b.Tokens-used.Tokens-in)
			if room < least {
				return 0, &BudgetError{fmt.Sprintf("%d tokens", b.Tokens)}
			}
		}
		if b.Cost > 0 {
			left := b.Cost - used.Cost - m.cost(chat.Usage{Input: in})
			if m.OutputPrice > 0 {
				room = min(room, int(left/m.OutputPrice*1e6))
			}
			if left < 0 || room < least {
				return 0, &BudgetError{fmt.Sprintf("%g for the cost", b.Cost)}
			}
		}
	}
	return room, nil
}
