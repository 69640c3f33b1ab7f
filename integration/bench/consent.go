package main

import (
	"context"
	"fmt"
	"time"
)

// consents is a run of the suite consent.
type consents struct{ lineup }

// consentRest is the time without work before each call.
const consentRest = 20 * time.Millisecond

func consentSuite() suite {
	c := &consents{lineup{entries: []entry{
		{"native", "the native driver alone", (*host).native, false},
		{"serve-native", "a safe skill, with policy and record", (*host).serveNative, true},
		{"serve-unrecorded", "the same without a folder for state: nothing is recorded or looked up there", (*host).serveUnrecorded, true},
		{"serve-confirmed", "a mutating skill that a person has confirmed for always", (*host).serveConfirmed, true},
	}}}
	return suite{
		name: "consent", duration: time.Minute, quick: []string{"duration=1s"},
		about: fmt.Sprintf(`consent shows what policy, approvals, pins and record add to a call of the script in
bash through skills-mcp on the native driver, one call at a time, after a rest of %v.
The client blocks in a read until the answer.

  over driver ms      of a call through the server beyond that of its driver alone: the
                      server's own share
  over unrecorded ms  beyond that of the server without a folder for state

With --against, an older program that asks nobody runs the safe skill alone.

Contenders:
%s`, consentRest, c.list()),
		flags: c.flags,
		measure: func(ctx context.Context, b *bench) error {
			c.blocking = true
			c.usual = []string{"native", "serve-native", "serve-unrecorded", "serve-confirmed"}
			return c.with(ctx, b, func(contenders []*contender) error { return c.measure(ctx, contenders) })
		},
	}
}

func (c *consents) measure(ctx context.Context, contenders []*contender) error {
	const name = "bash, one call at a time"
	began := time.Now()
	more := func(round int) bool { return round < minRounds || time.Since(began) < c.duration }
	err := takeTurns(contenders, more, func(one *contender) error {
		calls := one.once(c.scripts[0], consentRest)
		calls.calls = 10
		return c.result(name, one.name).record(ctx, one, calls)
	})
	plain := c.find(name, "serve-unrecorded")
	for _, one := range contenders {
		c.relate(name, one)
		if r := c.result(name, one.name); plain != nil && one.server != nil && r != plain {
			r.relate("over unrecorded ms", r.figure("p50 ms").rounds, plain.figure("p50 ms").rounds, difference)
		}
	}
	return err
}

// serveUnrecorded starts a server whose folder for state cannot be made.
func (h *host) serveUnrecorded(ctx context.Context, name string, b binary) (*contender, error) {
	return h.serve(ctx, &contender{name: name, alone: "native", env: []string{"XDG_STATE_HOME=/dev/null"}}, "native", b)
}

// serveConfirmed starts a server with mutating skills, whose first calls the client
// confirms.
func (h *host) serveConfirmed(ctx context.Context, name string, b binary) (*contender, error) {
	return h.serve(ctx, &contender{name: name, alone: "native", class: "mutating"}, "native", b)
}
