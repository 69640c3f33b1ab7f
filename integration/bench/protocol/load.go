package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// A loaded is what a load has shown.
type loaded struct {
	clients, requests int
	errors            int
	first             error // of them
	times             []time.Duration
	spent             time.Duration
	before, after     held
}

// load lets many clients ask one server at once.
func load(ctx context.Context, o *options, folder string) (l *loaded, err error) {
	p, err := start(ctx, "ours", "http", folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	l = &loaded{clients: o.clients}
	if err := l.run(ctx, o, p, 1); err != nil { // what is there after any load is not left of this one
		return nil, err
	}
	if l.before, err = p.held(); err != nil {
		return nil, err
	}
	*l = loaded{clients: o.clients, before: l.before}
	if err := l.run(ctx, o, p, o.requests/o.clients); err != nil {
		return nil, err
	}
	if l.after, err = p.held(); err != nil {
		return nil, err
	}
	if l.errors > 0 {
		return l, fmt.Errorf("%d of %d requests failed, the first: %w", l.errors, l.requests, l.first)
	}
	return l, nil
}

// run lets all clients connect, each make so many requests, and leave.
func (l *loaded) run(ctx context.Context, o *options, p *process, each int) error {
	clients := make([]*loader, o.clients)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.close()
			}
		}
	}()
	for i := range clients {
		c, err := dial(p.address, i%2 == 0)
		if err != nil {
			return err
		}
		clients[i] = &loader{httpConn: c, number: i, skills: o.skills}
	}
	began := time.Now()
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() { c.run(ctx, each) })
	}
	all.Wait()
	l.spent = time.Since(began)
	for _, c := range clients {
		l.take(c)
	}
	return ctx.Err()
}

func (l *loaded) take(c *loader) {
	l.requests += c.requests
	l.times = append(l.times, c.times...)
	l.errors += len(c.errors)
	if l.first == nil && len(c.errors) > 0 {
		l.first = c.errors[0]
	}
}

// A loader is one client of many.
type loader struct {
	*httpConn
	number   int
	skills   int // of the server
	requests int
	times    []time.Duration
	errors   []error
}

func (c *loader) run(ctx context.Context, each int) {
	for i := range each {
		if ctx.Err() != nil {
			return
		}
		q, own := c.question(i)
		c.requests++
		began := time.Now()
		reply, err := ask(c, i, q)
		c.times = append(c.times, time.Since(began))
		if err == nil && !bytes.Contains(reply, []byte(own)) {
			err = fmt.Errorf("no %s in the reply to %s: %.300s", own, q.method, reply)
		}
		if err != nil {
			c.errors = append(c.errors, fmt.Errorf("client %d, request %d: %w", c.number, i, err))
		}
	}
}

// question is what a client asks next, and what only its own reply has.
func (c *loader) question(i int) (q question, own string) {
	skill := catalog.Name((c.number*31 + i) % c.skills)
	tag := fmt.Sprintf("tag-%d-%d", c.number, i)
	switch i % 5 {
	case 0:
		return question{method: "tools/list"}, `"name":"` + nothing + `"`
	case 1:
		return question{"tools/call", nothing, fmt.Sprintf(`"arguments":{"tag":%q}`, tag)}, tag
	case 2:
		return question{method: "skills/list"}, `"skills":[`
	case 3:
		return question{"resources/read", "skill://" + skill + "/SKILL.md", ""}, "name: " + skill
	default:
		return question{"tools/call", "load_skill", fmt.Sprintf(`"arguments":{"name":%q,"args":%q}`, skill, tag)}, skill
	}
}
