package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

// team is a run of the suite team.
type team struct {
	*bench
	rounds uint
	people uint
	greedy uint          // connections of the greedy principal
	load   time.Duration // of many people

	home   string
	issuer *issuer
	binary binary
	roots  atomic.Pointer[tls.Config] // trusts the server's certificates, old and new; replaced as a whole
}

func teamSuite() suite {
	t := &team{}
	return suite{
		name: "team", duration: time.Minute, quick: []string{"duration=1s", "rounds=1", "people=4", "greedy=4", "load=2s"},
		about: `team measures a server for many people over HTTP, on the native driver.

  one request     of a server with a static token and nothing else, and of one with
                  everything on: tokens of an issuer, profiles, TLS, logs of access,
                  metrics and traces. "over static ms" is the difference of a round.
  a neighbour     p95 of a principal's calls alone, and beside a greedy one with
                  --greedy connections that call without any pause; × alone.
  many people     --people people, each with a token of their own in one of two profiles,
                  send requests for the time of --load. In its middle the issuer's keys,
                  the certificate and the configuration change, with SIGHUP. An error
                  is an error of this program.
`,
		flags: func(f *flag.FlagSet) {
			f.UintVar(&t.rounds, "rounds", 10, "how many turns each server has in a case")
			f.UintVar(&t.people, "people", 30, "how many people there are")
			f.UintVar(&t.greedy, "greedy", 32, "how many connections the greedy neighbour has")
			f.DurationVar(&t.load, "load", 10*time.Minute, "how long the people send requests; 0 leaves them out")
		},
		measure: func(ctx context.Context, b *bench) error {
			t.bench = b
			return t.measure(ctx)
		},
	}
}

// Scripts of the suite: one that waits as for a reply of the network, and one that ends at
// once.
var teamScripts = map[string]string{"waits": "sleep 0.2\necho done\n", "prints": "echo done\n"}

func (t *team) measure(ctx context.Context) (err error) {
	binaries, err := t.servers(ctx)
	if err != nil {
		return err
	}
	t.binary, t.home = binaries[0], filepath.Join(t.dir, "home")
	if t.issuer, err = newIssuer(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.issuer.close()) }()
	err = errors.Join(
		catalog.Make(t.home, 100),
		writeFile(filepath.Join(t.home, "skills", note, "SKILL.md"), "---\nname: "+note+"\ndescription: Returns its argument.\n---\n$ARGUMENTS\n"))
	for name, script := range teamScripts {
		dir := filepath.Join(t.home, "skills", name)
		err = errors.Join(err,
			writeFile(filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: A script that "+name+".\nscript: run.sh\n---\n"),
			writeFile(filepath.Join(dir, "run.sh"), script), os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	}
	if err := errors.Join(err, t.certificate()); err != nil {
		return err
	}
	if err := t.requests(ctx); err != nil {
		return fmt.Errorf("one request: %w", err)
	}
	if err := t.neighbours(ctx); err != nil {
		return fmt.Errorf("a neighbour: %w", err)
	}
	if t.load == 0 {
		return nil
	}
	if err := t.many(ctx); err != nil {
		return fmt.Errorf("many people: %w", err)
	}
	return nil
}

// configure writes the configuration of a server with everything on, in which skills of a
// pattern do not exist for the second of its two groups.
func (t *team) configure(denied string) error {
	return catalog.Configure(t.home, 200, fmt.Sprintf(`expose: {pin: [%s, waits, prints]}
policy:
  profiles:
    one: {}
    two: {deny: [%q]}
serve:
  url: https://skills.example
  tls: {cert: %q, key: %q}
  access_log: true
  oidc:
    issuer: %s
    audience: [%s]
    profile_claim: groups
    profiles: {one: one, two: two}
telemetry:
  metrics: {listen: "127.0.0.1:0"}
`, note, denied, t.file("cert.pem"), t.file("key.pem"), t.issuer.url, audience))
}

func (t *team) file(name string) string { return filepath.Join(t.dir, name) }

// certificate writes a new certificate for the server, which clients trust beside those
// before.
func (t *team) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err1 := rand.Int(rand.Reader, big.NewInt(1<<62))
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "bench"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err2 := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	private, err3 := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if before := t.roots.Load(); before != nil {
		roots = before.RootCAs.Clone()
	}
	roots.AddCert(cert)
	t.roots.Store(&tls.Config{RootCAs: roots})
	// Certificate and key change one after the other, as they do where a program renews them.
	err = os.WriteFile(t.file("cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	return errors.Join(err, os.WriteFile(t.file("key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
}

// everything starts a server with everything on.
func (t *team) everything() (*process, error) {
	if err := t.configure("skill-0009*"); err != nil {
		return nil, err
	}
	p, err := t.binary.serve(t.home, serveOptions{http: true, named: true, args: []string{"--sandbox", "native"}})
	if err == nil {
		p.name = "everything on"
	}
	return p, err
}

// as returns a client of a person, who has a token of the issuer.
func (t *team) as(ctx context.Context, server *process, modern bool, subject, group string) (*httpClient, error) {
	text, err := t.issuer.token(subject, group)
	if err != nil {
		return nil, err
	}
	return dialAs(ctx, server.address, modern, t.roots.Load(), func() string { return text })
}

// requests compares a server with a static token with one that has everything on.
func (t *team) requests(ctx context.Context) (err error) {
	if err := catalog.Configure(t.home, 200, "expose: {pin: ["+note+", waits, prints]}\n"); err != nil {
		return err
	}
	static, err := t.binary.serve(t.home, serveOptions{http: true, args: []string{"--sandbox", "native"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, static.close()) }()
	static.name = "static token"
	all, err := t.everything()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	for _, modern := range []bool{false, true} {
		generation := map[bool]string{false: "legacy", true: "modern"}[modern]
		clients := map[*process]*httpClient{}
		if clients[static], err = dial(ctx, static.address, modern); err != nil {
			return err
		}
		defer clients[static].close()
		if clients[all], err = t.as(ctx, all, modern, "ada", "one"); err != nil {
			return err
		}
		defer clients[all].close()
		for _, q := range questions()[:2] {
			name := fmt.Sprintf("one request: %s, %s", q, generation)
			turn := t.duration / 4 / time.Duration(max(2*t.rounds, 1))
			err := takeTurns([]*process{static, all}, rounds(t.rounds), func(server *process) error {
				one := load{workers: 1, warm: turn / 4, time: turn * 3 / 4, server: server, call: func(ctx context.Context, _, _ int) error {
					_, err := clients[server].ask(ctx, q)
					return err
				}}
				s, err := one.run(ctx)
				r := t.result(name, server.name)
				r.add("p50 ms", milliseconds(percentile(s.times, 50)))
				r.add("CPU µs", microseconds(s.cpu))
				return err
			})
			if err != nil {
				return err
			}
			with, without := t.result(name, all.name), t.result(name, static.name)
			with.relate("over static ms", with.figure("p50 ms").rounds, without.figure("p50 ms").rounds, difference)
		}
	}
	return nil
}

// neighbours compares a principal's calls alone with those beside a greedy one.
func (t *team) neighbours(ctx context.Context) (err error) {
	server, err := t.everything()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	quiet, err := t.as(ctx, server, true, "ada", "one")
	if err != nil {
		return err
	}
	defer quiet.close()
	for name := range teamScripts {
		call := question{"tools/call", name, `"arguments":{}`}
		turn := t.duration / time.Duration(max(2*t.rounds, 1))
		own := func() ([]time.Duration, error) {
			l := load{workers: 1, warm: turn / 4, time: turn * 3 / 4, call: func(ctx context.Context, _, _ int) error {
				_, err := quiet.ask(ctx, call)
				return err
			}}
			s, err := l.run(ctx)
			return s.times, err
		}
		err := takeTurns([]string{"alone", "beside a greedy one"}, rounds(t.rounds), func(how string) error {
			stop := func() (int64, int64, error) { return 0, 0, nil }
			if how != "alone" {
				var err error
				if stop, err = t.bother(ctx, server, call); err != nil {
					return err
				}
			}
			times, err := own()
			done, busy, stopped := stop()
			r := t.result("a neighbour: "+name, how)
			r.add("p95 ms", milliseconds(percentile(times, 95)))
			r.add("p50 ms", milliseconds(percentile(times, 50)))
			r.add("its calls", float64(done))
			r.add("refused as busy", float64(busy))
			return errors.Join(err, stopped)
		})
		if err != nil {
			return err
		}
		beside, alone := t.result("a neighbour: "+name, "beside a greedy one"), t.result("a neighbour: "+name, "alone")
		beside.relate("p95 × alone", beside.figure("p95 ms").rounds, alone.figure("p95 ms").rounds, quotient)
	}
	return nil
}

// bother lets a greedy principal call until stop is called, which returns the numbers of its
// calls and of those that were refused since it has too many.
func (t *team) bother(ctx context.Context, server *process, q question) (stop func() (done, busy int64, err error), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var clients []client
	for range t.greedy {
		c, err := t.as(ctx, server, true, "mallory", "one")
		if err != nil {
			cancel()
			return nil, err
		}
		clients = append(clients, c)
	}
	var done, refused atomic.Int64
	ended := make(chan error, len(clients))
	for _, c := range clients {
		go func() {
			for ctx.Err() == nil {
				switch reply, err := c.ask(ctx, q); {
				case ctx.Err() != nil:
				case bytes.Contains(reply, []byte(`BUSY`)) || err != nil && (strings.Contains(err.Error(), "429") || strings.Contains(err.Error(), "BUSY")):
					refused.Add(1)
				case err != nil:
					ended <- err
					return
				default:
					done.Add(1)
				}
			}
			ended <- nil
		}()
	}
	return func() (int64, int64, error) {
		cancel()
		var all []error
		for range clients {
			all = append(all, <-ended)
		}
		closeClients(clients)
		return done.Load(), refused.Load(), errors.Join(all...)
	}, nil
}

// pausing is the pause of a person between two requests.
const pausing = 200 * time.Millisecond

// many lets people use a server for a time, in whose middle all of it is reloaded.
func (t *team) many(ctx context.Context) (err error) {
	server, err := t.everything()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	clients := make([]*httpClient, t.people)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.close()
			}
		}
	}()
	for i := range clients {
		if clients[i], err = t.as(ctx, server, i%2 == 0, fmt.Sprintf("person-%d", i), []string{"one", "two"}[i/2%2]); err != nil {
			return err
		}
	}
	r := t.result("many people", server.name)
	reload := make(chan error, 1)
	middle := time.AfterFunc(t.load/2, func() { reload <- t.reload(server) })
	defer middle.Stop()
	began, early := time.Now(), atomic.Bool{}
	l := load{workers: len(clients), time: t.load, server: server, before: resting(pausing), call: func(ctx context.Context, i, n int) error {
		if time.Since(began) > t.load/10 && early.CompareAndSwap(false, true) {
			r.set("RSS MB at a tenth", server.rss())
		}
		if time.Since(began) > t.load/2 && n%50 == 49 { // a person who comes back, with a new token
			c, err := t.as(ctx, server, i%2 == 0, fmt.Sprintf("person-%d", i), []string{"one", "two"}[i/2%2])
			if err != nil {
				return fmt.Errorf("person %d comes back: %w", i, err)
			}
			clients[i].close()
			clients[i] = c
		}
		q, own := t.question(i, n)
		reply, err := clients[i].ask(ctx, q)
		if err == nil && !bytes.Contains(reply, []byte(own)) {
			err = fmt.Errorf("no %s in the reply to %s: %.300s", own, q, reply)
		}
		if err != nil {
			err = fmt.Errorf("person %d, request %d: %w", i, n, err)
		}
		return err
	}}
	s, err := l.run(ctx)
	if err == nil {
		err = <-reload
	}
	r.set("requests", float64(len(s.times)))
	r.set("requests/s", s.rate)
	r.set("p50 ms", milliseconds(percentile(s.times, 50)))
	r.set("p99 ms", milliseconds(percentile(s.times, 99)))
	r.set("CPU µs", microseconds(s.cpu))
	r.set("RSS MB at the end", server.rss())
	return err
}

// question returns request n of a person, and a text that its reply contains.
func (t *team) question(person, n int) (q question, own string) {
	tag := fmt.Sprintf("tag-%d-%d", person, n)
	switch n % 10 {
	case 0:
		return question{method: "tools/list"}, `"name":"` + note + `"`
	case 1:
		return question{"tools/call", "search_skills", `"arguments":{"query":"thing"}`}, "skill-"
	case 2:
		return question{"tools/call", "prints", `"arguments":{}`}, "done"
	}
	return question{"tools/call", note, noteArguments(tag)}, tag
}

// reload changes the keys of the issuer, the certificate and the configuration.
func (t *team) reload(server *process) error {
	err := errors.Join(t.issuer.rotate(), t.certificate(), t.configure("skill-0008*"))
	return errors.Join(err, server.cmd.Process.Signal(syscall.SIGHUP))
}
