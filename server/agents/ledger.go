package agents

import "sync"

// A ledger counts what a session and its descendants use of its budget. Those of one tree
// share a mutex.
type ledger struct {
	mu     *sync.Mutex
	parent *ledger // nil at the top
	budget Budget
	used   Used
}

// newLedger returns the ledger of a session below parent, which may be nil.
func newLedger(parent *ledger, budget Budget) *ledger {
	l := &ledger{mu: new(sync.Mutex), parent: parent, budget: budget}
	if parent != nil {
		l.mu = parent.mu
	}
	return l
}

// left returns what is left of the budgets of the session and its ancestors, or a
// [BudgetError].
func (l *ledger) left() (Budget, error) { panic("TODO") }

// spent returns what is gone of the session's budget.
func (l *ledger) spent() Used {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}
