package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// protocol is a run of the suite protocol.
type protocol struct {
	*bench
	skills  uint
	rounds  uint // turns of each server in a case
	clients uint // of the load; none for 0
}

func protocolSuite() suite {
	p := &protocol{}
	return suite{
		name: "protocol", duration: 16 * time.Second, quick: []string{"duration=500ms", "skills=100", "rounds=1", "clients=10"},
		about: fmt.Sprintf(`protocol sends requests to "skills-mcp serve" with --skills skills, over standard
input and output and over HTTP, by clients of both generations of the protocol.
Figures:

  p50 ms      of one request at a time
  requests/s  %[1]d requests at a time: on one pipe, or on %[1]d connections
  CPU µs      processor time of the server for each of these
  KB          of a reply

Then --clients HTTP clients, half of each generation, come at once in each round
and make %[2]d requests each: lists, instructions and files of skills. Each checks
that its reply is its own; an error there is an error of this program. Open files
and memory are those before and after, when all clients have left.
`, atOnce, loadRequests),
		flags: func(f *flag.FlagSet) {
			f.UintVar(&p.skills, "skills", 1000, "how many skills there are")
			f.UintVar(&p.rounds, "rounds", 8, "how many turns each server has in a case")
			f.UintVar(&p.clients, "clients", 200, "how many clients make the load; 0 makes none")
		},
		measure: func(ctx context.Context, b *bench) error {
			p.bench = b
			return p.measure(ctx)
		},
	}
}

// note is the skill of instructions that the suite calls; its tool has its name.
const note = "note"

// noteArguments are those of a call of note. The tag comes back.
func noteArguments(tag string) string { return fmt.Sprintf(`"arguments":{"args":%q}`, tag) }

func (p *protocol) measure(ctx context.Context) error {
	home, n := filepath.Join(p.dir, "home"), int(p.skills)
	err := errors.Join(
		catalog.Make(home, n),
		writeFile(filepath.Join(home, "skills", note, "SKILL.md"), "---\nname: "+note+"\ndescription: Returns its argument.\n---\n$ARGUMENTS\n"),
		catalog.Configure(home, n+1, "expose: {pin: ["+note+", 'skill-0*']}\n"))
	if err != nil {
		return err
	}
	for _, kind := range []string{"stdio", "http"} {
		fmt.Fprintf(p.log, "bench: %s\n", kind)
		err := p.withServers(ctx, home, kind == "http", func(servers []*process) error {
			return errors.Join(p.generation(ctx, kind, false, servers), p.generation(ctx, kind, true, servers))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	if p.clients == 0 || p.rounds == 0 {
		return nil
	}
	fmt.Fprintln(p.log, "bench: many clients")
	return p.withServers(ctx, home, true, func(servers []*process) error { return p.crowds(ctx, servers) })
}

// withServers calls f with a server of each binary.
func (p *protocol) withServers(ctx context.Context, home string, http bool, f func([]*process) error) (err error) {
	binaries, err := p.servers(ctx)
	if err != nil {
		return err
	}
	var servers []*process
	defer func() {
		for _, server := range servers {
			err = errors.Join(err, server.close())
		}
	}()
	for _, b := range binaries {
		server, err := b.serve(home, serveOptions{http: http, args: []string{"--sandbox", "native"}})
		if err != nil {
			return err
		}
		servers = append(servers, server)
	}
	return f(servers)
}

// questions returns the requests of each server.
func questions() []question {
	return []question{
		{method: "tools/list"},
		{"tools/call", note, noteArguments("x")},
		{"tools/call", "load_skill", fmt.Sprintf(`"arguments":{"name":%q}`, catalog.Name(0))},
	}
}

// generation measures all servers with clients of one generation.
func (p *protocol) generation(ctx context.Context, kind string, modern bool, servers []*process) error {
	generation := "legacy"
	if modern {
		generation = "modern"
	}
	clients := map[*process][]client{}
	for _, server := range servers {
		some, err := server.connect(ctx, atOnce, modern)
		defer closeClients(some)
		if err != nil {
			return fmt.Errorf("%s: %w", server.name, err)
		}
		clients[server] = some
	}
	for _, q := range questions() {
		name := fmt.Sprintf("%s, %s, %s", q, kind, generation)
		turn := p.duration / time.Duration(max(int(p.rounds)*len(servers), 1))
		err := takeTurns(servers, rounds(p.rounds), func(server *process) error {
			return p.turn(ctx, p.result(name, server.name), q, server, clients[server], turn)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// turn makes requests for a time: one at a time for a third of it, then one of
// each client at a time.
func (p *protocol) turn(ctx context.Context, r *result, q question, server *process, clients []client, duration time.Duration) error {
	size := 0
	single := load{workers: 1, warm: duration / 12, time: duration / 4, call: func(ctx context.Context, _, _ int) error {
		reply, err := clients[0].ask(ctx, q)
		size = len(reply)
		return err
	}}
	many := load{workers: len(clients), time: duration * 2 / 3, server: server, call: func(ctx context.Context, i, _ int) error {
		_, err := clients[i].ask(ctx, q)
		return err
	}}
	one, err := single.run(ctx)
	if err != nil {
		return err
	}
	all, err := many.run(ctx)
	if err != nil {
		return err
	}
	r.add("p50 ms", milliseconds(percentile(one.times, 50)))
	r.add("requests/s", all.rate)
	r.add("CPU µs", microseconds(all.cpu))
	r.set("KB", float64(size)/1024)
	return nil
}

// loadRequests is the number of requests of each client in a crowd.
const loadRequests = 5

// crowds lets many clients send requests to each server at once. The servers take
// turns.
func (p *protocol) crowds(ctx context.Context, servers []*process) error {
	name := fmt.Sprintf("%d clients at once", p.clients)
	for _, server := range servers {
		// The first round fills caches: they do not count as left over.
		if _, err := p.crowd(ctx, server); err != nil {
			return err
		}
		leftOver(p.result(name, server.name), server, "before")
	}
	err := takeTurns(servers, rounds(p.rounds), func(server *process) error {
		r, began := p.result(name, server.name), time.Now()
		s, err := p.crowd(ctx, server)
		if err != nil {
			return err
		}
		r.set("requests", r.figure("requests").Value+float64(len(s.times)))
		r.add("requests/s", float64(len(s.times))/time.Since(began).Seconds())
		r.add("CPU µs", microseconds(s.cpu))
		r.add("p50 ms", milliseconds(percentile(s.times, 50)))
		r.add("p99 ms", milliseconds(percentile(s.times, 99)))
		return nil
	})
	for _, server := range servers {
		leftOver(p.result(name, server.name), server, "after")
	}
	return err
}

// leftOver sets the files and memory of a server without clients.
func leftOver(r *result, server *process, when string) {
	r.set("files "+when, float64(openFiles(server.cmd.Process.Pid)))
	r.set("RSS MB "+when, server.rss())
}

// crowd lets all clients connect, make their requests, and leave.
func (p *protocol) crowd(ctx context.Context, server *process) (sample, error) {
	var clients []client
	defer func() { closeClients(clients) }()
	for i := range int(p.clients) {
		c, err := dial(ctx, server.address, i%2 == 0)
		if err != nil {
			return sample{}, err
		}
		clients = append(clients, c)
	}
	l := load{workers: len(clients), calls: loadRequests, time: callTimeout, server: server, call: func(ctx context.Context, worker, n int) error {
		q, own := p.question(worker, n)
		reply, err := clients[worker].ask(ctx, q)
		if err == nil && !bytes.Contains(reply, []byte(own)) {
			err = fmt.Errorf("no %s in the reply to %s: %.300s", own, q, reply)
		}
		if err != nil {
			err = fmt.Errorf("client %d, request %d: %w", worker, n, err)
		}
		return err
	}}
	return l.run(ctx)
}

// question returns request n of a client, and a text that only its own reply
// contains.
func (p *protocol) question(client, n int) (q question, own string) {
	skill := catalog.Name((client*31 + n) % int(p.skills))
	tag := fmt.Sprintf("tag-%d-%d", client, n)
	switch n {
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
