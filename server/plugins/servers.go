package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Options configure [Servers]. The zero value is usable.
type Options struct {
	// Data is the absolute host folder with the data folders of plugins; "" gives them none.
	Data string
	// Owner returns the name that a principal has data under; nil is its key.
	Owner func(identity.Principal) string
	// Egress configures the connections to servers over HTTP.
	Egress *egress.Options
	// Version of this program, which servers are told.
	Version string
}

const (
	idleTime   = 10 * time.Minute // after which a server without a call is ended
	maxRunning = 32               // servers
	firstWait  = time.Second      // after a failure; it doubles
)

// Servers make the calls of the MCP servers of plugins. A server runs in a sandbox of its
// own for one principal and one grant. It may be used concurrently.
type Servers struct {
	runner  *sandbox.Runner
	book    *Book
	options Options

	mu      sync.Mutex
	running map[string]*process                  // by key
	failed  map[string]failure                   // by key
	changed map[*func(identity.Key, string)]bool // of OnUpdate
	watched dataWatch                            // of watch alone
	timer   *time.Timer                          // calls watch; nil while nothing runs
	slow    bool                                 // the timer waits for idleEvery
}

// A failure is the last one of a server that has answered nothing since.
type failure struct {
	count int
	until time.Time // it is not started again before
	why   string
}

// New returns servers that run with runner, whose Close ends them. Options may be nil.
func New(runner *sandbox.Runner, book *Book, options *Options) *Servers {
	s := &Servers{runner: runner, book: book, running: map[string]*process{}, failed: map[string]failure{}, changed: map[*func(identity.Key, string)]bool{}}
	if options != nil {
		s.options = *options
	}
	if s.options.Owner == nil {
		s.options.Owner = func(p identity.Principal) string { return string(p.Key()) }
	}
	return s
}

// Call returns the session in which a call of a server's skill runs, whose command has its
// arguments on standard input, and then the answers to its questions. It prints what a
// script prints: a result object, and questions.
func (s *Servers) Call(who identity.Principal, skill *skills.Skill) sandbox.Session {
	return &call{s, who, skill}
}

// OnUpdate has a function called, until stop is called, when a resource has changed that a
// principal has read, with the URI that it has here. It must not wait.
func (s *Servers) OnUpdate(changed func(owner identity.Key, uri string)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[&changed] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.changed, &changed)
	}
}

// updated tells that a resource has changed.
func (s *Servers) updated(owner identity.Key, uri string) {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.changed))
	s.mu.Unlock()
	for _, changed := range all {
		(*changed)(owner, uri)
	}
}

// Leave ends the servers of a principal who has left. It does not wait.
func (s *Servers) Leave(owner identity.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, p := range s.running {
		if strings.HasPrefix(key, string(owner)+"\n") {
			p.end(errIdle)
		}
	}
	maps.DeleteFunc(s.failed, func(key string, _ failure) bool { return strings.HasPrefix(key, string(owner)+"\n") })
}

// A call is one call of a server's skill. It is a [sandbox.Session].
type call struct {
	servers *Servers
	who     identity.Principal
	skill   *skills.Skill
}

// Close implements [sandbox.Session]. The server goes on.
func (c *call) Close() error { return nil }

// Run implements [sandbox.Session].
func (c *call) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	p, err := c.servers.acquire(c, cmd)
	if err != nil {
		return nil, err
	}
	defer p.release(idleTime)
	before := p.connections.now(p.ready)
	if err := p.await(ctx, cmd); err != nil {
		return nil, err
	}
	cmd.Started()
	answer, err := p.answer(ctx, cmd, c.skill)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"mcp": answer})
	if err != nil {
		return nil, err
	}
	_, _ = cmd.Stdout.Write(append(text, '\n')) // it reports its own limits
	return &sandbox.Exit{Sandbox: "kept, of the MCP server " + p.name, Connections: p.connections.since(before)}, nil
}

// acquire returns the process for a command, which is started if none runs. It is not idle
// until it is released.
func (s *Servers) acquire(c *call, cmd *sandbox.Command) (*process, error) {
	key := c.key(cmd)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.running[key]
	full := p == nil && len(s.running) >= maxRunning
	for other, q := range s.running {
		if other != key && (full || c.replaces(other, q, cmd)) && q.retire() {
			delete(s.running, other)
			full = false
		}
	}
	if p != nil && p.use(c.skill) {
		s.hurry()
		return p, nil
	}
	if f, ok := s.failed[key]; ok && time.Now().Before(f.until) {
		return nil, &sandbox.UnavailableError{
			Reason: fmt.Sprintf("the MCP server %s has failed, and is not started again at once: %s", c.skill.Owner().QualifiedName(), f.why),
			Remedy: fmt.Sprintf("try again in %s", max(time.Second, time.Until(f.until).Round(time.Second))),
		}
	}
	if full {
		return nil, sandbox.ErrBusy
	}
	p, err := s.start(key, c, cmd)
	if err != nil {
		return nil, err
	}
	s.running[key] = p
	p.use(c.skill)
	s.hurry()
	return p, nil
}

// replaces reports whether a process, by its key, is of the server of a call and for its
// principal, with other files than the command has, or with what the same tool was granted
// before: tools may have different grants, and a process for each.
func (c *call) replaces(key string, p *process, cmd *sandbox.Command) bool {
	owner := c.skill.Owner()
	return (p.folder != cmd.Folder || p.callers[c.skill.Name]) && p.name == owner.QualifiedName() && p.skill.File == owner.File && strings.HasPrefix(key, string(c.who.Key())+"\n")
}

// start starts the server of a call.
func (s *Servers) start(key string, c *call, cmd *sandbox.Command) (_ *process, err error) {
	book := s.book
	if s.options.Owner(c.who) != "" { // whose secrets and files its listing, seen by all, may tell of
		book = nil
	}
	p := newProcess(c.skill.Owner(), book, s.options.Version, cmd, func(p *process, why string) { s.ended(key, p, why) })
	p.changed = func(uri string) { s.updated(c.who.Key(), p.skill.ServerURI(uri)) }
	if p.skill.Entry.Server.Server.Address != "" {
		err = p.connect(cmd, s.options.Egress)
	} else {
		launch := *cmd
		if launch.Grant.Data, err = s.data(c); err == nil {
			err = p.launch(s.runner, &launch)
		}
	}
	if err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

// ended forgets a process, and counts a failure.
func (s *Servers) ended(key string, p *process, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[key] == p {
		delete(s.running, key)
	}
	if why == "" || p.answered.Load() {
		delete(s.failed, key)
		return
	}
	count := s.failed[key].count + 1
	s.failed[key] = failure{count, time.Now().Add(min(firstWait<<min(count-1, 10), maxWait)), why}
}

// watch looks at the data folders as long as servers run, more rarely while none has a call.
func (s *Servers) watch() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	pause := s.watched.look(freeSpace(s.options.Data), func(full bool) {
		for _, p := range all {
			p.check(full)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	busy := false
	for _, p := range s.running {
		p.state.Lock()
		busy = busy || p.users > 0
		p.state.Unlock()
	}
	if len(s.running) == 0 {
		s.timer = nil
		return
	}
	if s.slow = !busy && pause >= roomEvery; s.slow {
		pause = max(pause, idleEvery)
	}
	s.timer = time.AfterFunc(pause, s.watch)
}

// hurry lets the next look be soon, at the start of a call. The caller holds mu.
func (s *Servers) hurry() {
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(roomEvery, s.watch)
	case s.slow && s.timer.Stop(): // or watch has begun
		s.timer.Reset(roomEvery)
	}
	s.slow = false
}

// key returns the same for calls that may have one process: of one principal, with one
// server, grant and environment, sentinels aside. It begins with the principal's key.
func (c *call) key(cmd *sandbox.Command) string {
	grant, env, secrets := cmd.Grant, slices.Clone(cmd.Env), []string{}
	if grant.Secrets != nil {
		for _, secret := range grant.Secrets.List {
			for i := range env {
				env[i] = strings.ReplaceAll(env[i], secret.Sentinel, secret.Value)
			}
			secret.Sentinel = ""
			secrets = append(secrets, fmt.Sprintf("%q", secret))
		}
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, egress.AuthorityVariable+"=") })
		grant.Secrets = nil
	}
	slices.Sort(env)
	server := &c.skill.Entry.Server.Server
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %q %q %q\n", c.skill.Origin().String(), cmd.Folder, cmd.Role, env, secrets, fmt.Sprint(grant), fmt.Sprint(server.Transport, server.Argv, server.Env, server.Dir, server.Address, server.Headers))
	for _, d := range cmd.Dependencies {
		fmt.Fprintln(sum, d.Digest)
	}
	return string(c.who.Key()) + "\n" + hex.EncodeToString(sum.Sum(nil))
}

// data returns the data folder of a plugin for a principal, made where it is missing.
func (s *Servers) data(c *call) (string, error) {
	if s.options.Data == "" {
		return "", nil
	}
	dir := filepath.Join(s.options.Data, dataFolder(s.options.Owner(c.who), c.skill))
	err := os.MkdirAll(dir, 0o700)
	if uid, gid := sandbox.User(); err == nil && os.Getuid() == 0 {
		err = os.Chown(dir, uid, gid)
	}
	if err != nil {
		return "", &sandbox.UnavailableError{Reason: "the plugin has no data folder: " + err.Error(), Remedy: "let the server write there", Err: err}
	}
	return dir, checkData(dir)
}

// dataFolder returns the name of the folder that keeps the data of a plugin for an owner.
func dataFolder(owner string, skill *skills.Skill) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + skill.PluginDir + "\x00" + skill.Plugin))
	return hex.EncodeToString(sum[:16])
}
