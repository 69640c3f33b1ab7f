package agents

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// priced is a model whose tokens cost 2 and 8 each.
var priced = &Model{Price: Price{2e6, 8e6}}

func TestReserve(t *testing.T) {
	for name, test := range map[string]struct {
		budget, above Budget
		in, out       int
		reply         int
		used          string // the error
	}{
		"no budget":             {Budget{}, Budget{}, 1000, 500, 500, ""},
		"last turn":             {Budget{Turns: 2}, Budget{}, 1000, 500, 500, ""},
		"no turn":               {Budget{Turns: 1}, Budget{}, 1000, 500, 0, "1 turns"},
		"no turn above":         {Budget{Turns: 2}, Budget{Turns: 1}, 1000, 500, 0, "1 turns"},
		"all tokens":            {Budget{Tokens: 1510}, Budget{}, 1000, 500, 500, ""},
		"a token less":          {Budget{Tokens: 1509}, Budget{}, 1000, 500, 499, ""},
		"smallest reply":        {Budget{Tokens: 1266}, Budget{}, 1000, 500, 256, ""},
		"less than that":        {Budget{Tokens: 1265}, Budget{}, 1000, 500, 0, "1265 tokens"},
		"smaller":               {Budget{Tokens: 1110}, Budget{}, 1000, 100, 100, ""},
		"less than smaller":     {Budget{Tokens: 1109}, Budget{}, 1000, 100, 0, "1109 tokens"},
		"tokens above":          {Budget{Tokens: 9999}, Budget{Tokens: 1300}, 1000, 500, 290, ""},
		"too few above":         {Budget{Tokens: 9999}, Budget{Tokens: 1265}, 1000, 500, 0, "1265 tokens"},
		"all of the cost":       {Budget{Cost: 44 + 2000 + 4000}, Budget{}, 1000, 500, 500, ""},
		"less cost":             {Budget{Cost: 44 + 2000 + 3999}, Budget{}, 1000, 500, 499, ""},
		"cost of the smallest":  {Budget{Cost: 44 + 2000 + 256*8}, Budget{}, 1000, 500, 256, ""},
		"less than its cost":    {Budget{Cost: 44 + 2000 + 256*8 - 1}, Budget{}, 1000, 500, 0, "4091 for the cost"},
		"too little cost above": {Budget{}, Budget{Cost: 100}, 1000, 500, 0, "100 for the cost"},
	} {
		t.Run(name, func(t *testing.T) {
			above := newLedger(nil, test.above)
			l := newLedger(above, test.budget)
			_, settle, err := l.reserve(t.Context(), &Model{Price: Price{2e6, 8e6}}, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			settle(chat.Usage{Input: 6, Output: 4})
			reply, settle, err := l.reserve(t.Context(), priced, test.in, test.out)
			if errors.Is(err, errUsedUp) && err.Error() == "the budget of "+test.used+" is used up" {
				if above.held != (Used{}) || l.spent() != (Used{1, 10, 44}) {
					t.Errorf("refused with %+v held, %+v used", above.held, l.spent())
				}
				return
			}
			if err != nil || test.used != "" || reply != test.reply {
				t.Fatalf("reserve is %d, %v, want %d, %s", reply, err, test.reply, test.used)
			}
			settle(chat.Usage{Input: 1001, Output: 7})
			want := Used{2, 1018, 44 + 2002 + 56}
			if l.spent() != want || above.spent() != want || l.held != (Used{}) || above.held != (Used{}) {
				t.Errorf("used is %+v and %+v above, want %+v; held %+v", l.spent(), above.spent(), want, l.held)
			}
		})
	}
}

func TestReserveFree(t *testing.T) {
	l := newLedger(nil, Budget{Cost: 1})
	if reply, _, err := l.reserve(t.Context(), &Model{}, 1000, 500); err != nil || reply != 500 {
		t.Errorf("a model without price has %d tokens, %v", reply, err)
	}
}

func TestLeft(t *testing.T) {
	root := newLedger(nil, Budget{Turns: 3, Tokens: 100, Cost: 1000})
	l := newLedger(root, Budget{Turns: 9, Tokens: 40})
	for n, want := range []Budget{{Turns: 9, Tokens: 40}, {Turns: 8, Tokens: 30}, {Turns: 7, Tokens: 20}} {
		if left, err := l.left(); err != nil || left != want {
			t.Errorf("after %d requests %+v, %v is left, want %+v", n, left, err, want)
		}
		_, settle, err := l.reserve(t.Context(), priced, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		settle(chat.Usage{Input: 6, Output: 4})
	}
	for _, a := range []*ledger{l, root} { // that of the child would last
		if left, err := a.left(); err == nil || err.Error() != "the budget of 3 turns is used up" {
			t.Errorf("%+v is left, %v", left, err)
		}
	}
	for _, spent := range []Budget{{Tokens: 10}, {Cost: 44}} {
		l := newLedger(nil, spent)
		_, settle, _ := l.reserve(t.Context(), priced, 1, 1)
		settle(chat.Usage{Input: 6, Output: 4})
		if left, err := l.left(); err == nil {
			t.Errorf("%+v is left of %+v", left, spent)
		}
	}
}

// A sibling that needs what another one holds waits for its usage.
func TestReserveWaits(t *testing.T) {
	for name, test := range map[string]struct {
		budget Budget
		used   chat.Usage
		want   string
	}{
		"turn":         {Budget{Turns: 1}, chat.Usage{Input: 1}, "0 the budget of 1 turns is used up"},
		"tokens":       {Budget{Tokens: 1500}, chat.Usage{Input: 10, Output: 10}, "1000 <nil>"},
		"fewer tokens": {Budget{Tokens: 1500}, chat.Usage{Input: 10, Output: 1000}, "480 <nil>"},
		"no tokens":    {Budget{Tokens: 1500}, chat.Usage{Input: 10, Output: 1400}, "0 the budget of 1500 tokens is used up"},
		"cost":         {Budget{Cost: 9000}, chat.Usage{Input: 10, Output: 10}, "1000 <nil>"},
		"killed":       {Budget{Tokens: 1500}, chat.Usage{}, "0 killed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := newLedger(nil, test.budget)
				_, settle, err := newLedger(root, Budget{}).reserve(t.Context(), priced, 10, 1000)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				got := make(chan string, 1)
				go func() {
					reply, _, err := newLedger(root, Budget{}).reserve(ctx, priced, 10, 1000)
					got <- fmt.Sprint(reply, " ", err)
				}()
				synctest.Wait()
				if len(got) > 0 {
					t.Errorf("it did not wait: %s", <-got)
				}
				if name == "killed" {
					cancel(errors.New("killed"))
				} else {
					settle(test.used)
				}
				if got := <-got; got != test.want {
					t.Errorf("reserve is %s, want %s", got, test.want)
				}
				cancel(nil)
			})
		})
	}
}

// Siblings at once use what there is, and no more.
func TestSiblings(t *testing.T) {
	for _, budget := range []Budget{{Turns: 100}, {Tokens: 100_000}, {Cost: 400_000.5}} {
		root := newLedger(nil, budget)
		m := &Model{Price: Price{0.3e6, 7.7e6}}
		var group sync.WaitGroup
		for n := range 20 {
			l := newLedger(newLedger(root, Budget{}), Budget{})
			group.Go(func() {
				for {
					reply, settle, err := l.reserve(t.Context(), m, 500, 1000)
					if err != nil {
						if !errors.Is(err, errUsedUp) {
							t.Error(err)
						}
						return
					}
					settle(chat.Usage{Input: 500, Output: reply - n})
				}
			})
		}
		group.Wait()
		used := root.spent()
		over := budget.Turns > 0 && used.Turns > budget.Turns || budget.Tokens > 0 && used.Tokens > budget.Tokens || budget.Cost > 0 && used.Cost > budget.Cost
		if _, err := root.left(); over || used.Turns < 50 || budget.Turns > 0 && err == nil || root.held != (Used{}) {
			t.Errorf("of %+v %+v is used, %v, %+v held", budget, used, err, root.held)
		}
	}
}
