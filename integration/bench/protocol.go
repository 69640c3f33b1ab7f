package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// protocolOptions are the flags of the suite protocol.
type protocolOptions struct {
	skills            int
	rounds            int // turns of each server in a case
	clients, requests int // of the load; no clients for none
}

func protocolSuite() suite {
	p := &protocolOptions{}
	return suite{name: "protocol", about: `protocol sends requests to "skills-mcp serve" with --skills skills, over standard
input and output and over HTTP, by clients of both generations of the protocol;
and to a server on mcp-go's own transports that has the same tools and answers at
once. Figures:

  p50 ms      of one request at a time
  requests/s  8 requests at a time: on one pipe, or on 8 connections
  CPU µs      processor time of the server for each of these
  KB          of a reply

Then --clients HTTP clients, half of each generation, make --requests requests:
lists, instructions and files of skills. Each checks that its reply is its own; an
error there is an error of this program. Open files and memory are those before
and after, when all clients have left.
`,
		duration: 16 * time.Second,
		flags: func(f *flag.FlagSet) {
			f.IntVar(&p.skills, "skills", 1000, "how many skills there are")
			f.IntVar(&p.rounds, "rounds", 8, "how many turns each server has in a case")
			f.IntVar(&p.clients, "clients", 200, "how many clients make the load; 0 makes none")
			f.IntVar(&p.requests, "requests", 8000, "how many requests they make of each server together")
		},
		quick: func(o *options) {
			o.duration, *p = time.Second/2, protocolOptions{skills: 100, rounds: 1, clients: 10, requests: 100}
		},
		check: func() error {
			if p.skills < 1 || p.rounds < 1 || p.clients < 0 || p.requests < p.clients {
				return errors.New("at least one skill, one round, and one request of each client")
			}
			return nil
		},
		measure: func(ctx context.Context, s *setup, r *report) error { return (&protocol{s, p, r}).measure(ctx) },
	}
}

// A protocol is a run of the suite.
type protocol struct {
	*setup
	*protocolOptions
	*report
}

// note is the skill of instructions that the suite calls; its tool has its name.
const note = "note"

// noteArguments are those of a call of note. The tag comes back.
func noteArguments(tag string) string { return fmt.Sprintf(`"arguments":{"args":%q}`, tag) }

func (p *protocol) measure(ctx context.Context) error {
	home := filepath.Join(p.dir, "home")
	err := errors.Join(
		catalog.Make(home, p.skills),
		writeFile(filepath.Join(home, "skills", note, "SKILL.md"), "---\nname: "+note+"\ndescription: Returns its argument.\n---\n$ARGUMENTS\n"),
		catalog.Configure(home, p.skills+1, "expose: {pin: ["+note+", 'skill-0*']}\n"))
	if err != nil {
		return err
	}
	binaries, err := p.servers(ctx)
	if err != nil {
		return err
	}
	for _, kind := range []string{"stdio", "http"} {
		fmt.Fprintf(p.log, "bench: %s\n", kind)
		if err := p.transport(ctx, binaries, kind, home); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	if p.clients == 0 {
		return nil
	}
	fmt.Fprintln(p.log, "bench: many clients")
	if err := p.load(ctx, binaries, home); err != nil {
		return fmt.Errorf("many clients: %w", err)
	}
	return nil
}

// questions returns the requests of each server.
func questions() []question {
	return []question{
		{method: "tools/list"},
		{"tools/call", note, noteArguments("x")},
		{"tools/call", "load_skill", fmt.Sprintf(`"arguments":{"name":%q}`, catalog.Name(0))},
	}
}

// A side is a server with its clients of one generation.
type side struct {
	*process
	name    string
	clients []client
}

// transport measures all servers on one transport.
func (p *protocol) transport(ctx context.Context, binaries []binary, kind, home string) (err error) {
	var sides []*side
	defer func() {
		for _, one := range sides {
			err = errors.Join(err, one.process.close())
		}
	}()
	for _, b := range binaries {
		server, err := b.serve(home, serveOptions{http: kind == "http", args: []string{"--sandbox", "native"}})
		if err != nil {
			return err
		}
		sides = append(sides, &side{process: server, name: "skills-mcp" + b.suffix})
	}
	file, err := p.record(ctx, sides[0].process)
	if err != nil {
		return err
	}
	server, err := startMCPGo(kind, file)
	if err != nil {
		return err
	}
	sides = append(sides, &side{process: server, name: "mcp-go"})
	for _, modern := range []bool{false, true} {
		if err := p.generation(ctx, kind, modern, sides); err != nil {
			return err
		}
	}
	return nil
}

// record writes the replies for the contender mcp-go to a file.
func (p *protocol) record(ctx context.Context, server *process) (file string, err error) {
	clients, err := server.connect(ctx, 1, true)
	if err != nil {
		return "", err
	}
	defer closeClients(clients)
	all := map[string]any{}
	calls := map[string]json.RawMessage{}
	for _, q := range questions() {
		reply, err := clients[0].ask(ctx, q)
		if err != nil {
			return "", err
		}
		var got struct{ Result json.RawMessage }
		if err := json.Unmarshal(reply, &got); err != nil {
			return "", err
		}
		if q.name == "" {
			all["Tools"] = got.Result
		} else {
			calls[q.name] = got.Result
		}
	}
	all["Calls"] = calls
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	file = filepath.Join(p.dir, "replies.json")
	return file, os.WriteFile(file, text, 0o644)
}

// generation measures all servers with clients of one generation.
func (p *protocol) generation(ctx context.Context, kind string, modern bool, sides []*side) error {
	generation := "legacy"
	if modern {
		generation = "modern"
	}
	for _, one := range sides {
		clients, err := one.connect(ctx, atOnce, modern)
		defer closeClients(clients)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		one.clients = clients
	}
	turn := p.duration / time.Duration(p.rounds*len(sides))
	for _, q := range questions() {
		name := fmt.Sprintf("%s, %s, %s", q, kind, generation)
		err := takeTurns(len(sides), func(round int) bool { return round < p.rounds }, func(i int) error {
			return sides[i].measure(ctx, p.result(name, sides[i].name), q, turn)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// measure makes requests for one turn: one at a time for a third of it, without
// the first few, then several at a time.
func (s *side) measure(ctx context.Context, r *result, q question, turn time.Duration) error {
	const warm = 5
	var times []time.Duration
	size := 0
	for i, end := 0, time.Now().Add(turn/3); i <= warm || time.Now().Before(end); i++ {
		began := time.Now()
		reply, err := s.clients[0].ask(ctx, q)
		if err != nil {
			return err
		}
		if i >= warm {
			times = append(times, time.Since(began))
		}
		size = len(reply)
	}
	count, spent, cpu, err := s.sustained(ctx, q, turn-turn/3)
	if err != nil {
		return err
	}
	r.add("p50 ms", milliseconds(percentile(times, 50)))
	r.add("requests/s", float64(count)/spent.Seconds())
	r.add("CPU µs", float64(cpu.Microseconds())/float64(count))
	r.set("KB", float64(size)/1024)
	return nil
}

// sustained lets each client make one request after the other.
func (s *side) sustained(ctx context.Context, q question, duration time.Duration) (count int, spent, cpu time.Duration, err error) {
	counts, errs := make([]int, len(s.clients)), make([]error, len(s.clients))
	before, began := s.cpu(), time.Now()
	end := began.Add(duration)
	var all sync.WaitGroup
	for i, c := range s.clients {
		all.Go(func() {
			for errs[i] == nil && (counts[i] == 0 || time.Now().Before(end)) {
				_, errs[i] = c.ask(ctx, q)
				counts[i]++
			}
		})
	}
	all.Wait()
	for _, n := range counts {
		count += n
	}
	return count, time.Since(began), s.cpu() - before, errors.Join(errs...)
}

// load lets many clients send requests to each server at once. The servers take
// turns.
func (p *protocol) load(ctx context.Context, binaries []binary, home string) (err error) {
	var sides []*side
	defer func() {
		for _, one := range sides {
			err = errors.Join(err, one.process.close())
		}
	}()
	name := fmt.Sprintf("%d clients at once", p.clients)
	for _, b := range binaries {
		server, err := b.serve(home, serveOptions{http: true, args: []string{"--sandbox", "native"}})
		if err != nil {
			return err
		}
		one := &side{process: server, name: "skills-mcp" + b.suffix}
		sides = append(sides, one)
		// The first round fills caches: they do not count as left over.
		if _, err := p.loadOnce(ctx, server, 1); err != nil {
			return err
		}
		one.leftOver(p.result(name, one.name), "before")
	}
	each := max(p.requests/p.clients/p.rounds, 1)
	all := make([][]time.Duration, len(sides))
	err = takeTurns(len(sides), func(round int) bool { return round < p.rounds }, func(i int) error {
		r, before, began := p.result(name, sides[i].name), sides[i].cpu(), time.Now()
		times, err := p.loadOnce(ctx, sides[i].process, each)
		if err != nil {
			return err
		}
		r.add("CPU µs", float64((sides[i].cpu()-before).Microseconds())/float64(len(times)))
		r.add("requests/s", float64(len(times))/time.Since(began).Seconds())
		r.add("p50 ms", milliseconds(percentile(times, 50)))
		r.add("p99 ms", milliseconds(percentile(times, 99)))
		all[i] = append(all[i], times...)
		return nil
	})
	for i, one := range sides {
		r := p.result(name, one.name)
		r.set("requests", float64(len(all[i])))
		one.leftOver(r, "after")
	}
	return err
}

// leftOver sets the files and memory of a server after all clients have left.
func (s *side) leftOver(r *result, when string) {
	r.set("files "+when, float64(openFiles(s.cmd.Process.Pid)))
	r.set("RSS MB "+when, s.rss())
}

// loadOnce lets all clients connect, make each so many requests, and leave.
func (p *protocol) loadOnce(ctx context.Context, server *process, each int) (times []time.Duration, err error) {
	loaders := make([]*loader, p.clients)
	defer func() {
		for _, l := range loaders {
			if l != nil {
				l.close()
			}
		}
	}()
	for i := range loaders {
		c, err := dial(ctx, server.address, i%2 == 0)
		if err != nil {
			return nil, err
		}
		loaders[i] = &loader{httpClient: c, number: i, skills: p.skills}
	}
	var all sync.WaitGroup
	for _, l := range loaders {
		all.Go(func() { l.run(ctx, each) })
	}
	all.Wait()
	var errs []error
	for _, l := range loaders {
		times, errs = append(times, l.times...), append(errs, l.errors...)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%d of %d requests failed, the first: %w", len(errs), len(times), errs[0])
	}
	return times, ctx.Err()
}

// A loader is one client of many.
type loader struct {
	*httpClient
	number int
	skills int // of the server
	times  []time.Duration
	errors []error
}

func (l *loader) run(ctx context.Context, each int) {
	for i := 0; i < each && ctx.Err() == nil; i++ {
		q, own := l.question(i)
		began := time.Now()
		reply, err := l.ask(ctx, q)
		l.times = append(l.times, time.Since(began))
		if err == nil && !bytes.Contains(reply, []byte(own)) {
			err = fmt.Errorf("no %s in the reply to %s: %.300s", own, q, reply)
		}
		if err != nil {
			l.errors = append(l.errors, fmt.Errorf("client %d, request %d: %w", l.number, i, err))
		}
	}
}

// question returns the client's next request, and a text that only its own reply
// contains.
func (l *loader) question(i int) (q question, own string) {
	skill := catalog.Name((l.number*31 + i) % l.skills)
	tag := fmt.Sprintf("tag-%d-%d", l.number, i)
	switch i % 5 {
	case 0:
		return question{method: "tools/list"}, `"name":"` + note + `"`
	case 1:
		return question{"tools/call", note, noteArguments(tag)}, tag
	case 2:
		return question{method: "skills/list"}, `"skills":[`
	case 3:
		return question{"resources/read", "skill://" + skill + "/SKILL.md", ""}, "name: " + skill
	default:
		return question{"tools/call", "load_skill", fmt.Sprintf(`"arguments":{"name":%q,"args":%q}`, skill, tag)}, skill
	}
}
