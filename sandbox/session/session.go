// Package session keeps sandboxes between calls: a tenant opens one, runs commands
// in it that share files and processes, and closes it, or it ends by itself. Start
// with [New].
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Limits bound the sessions of a [Manager]. A zero field means the default of
// [DefaultLimits].
type Limits struct {
	PerTenant int           // sessions of all tenants of one principal, or else of one ID
	Total     int           // sessions of all tenants
	Idle      time.Duration // how long a session lasts without a command
	Lifetime  time.Duration // how long a session lasts at the most
}

// DefaultLimits returns the limits of a configuration that sets none.
func DefaultLimits() Limits {
	return Limits{PerTenant: 2, Total: 8, Idle: 10 * time.Minute, Lifetime: time.Hour}
}

// or returns l with every zero field taken from d.
func (l Limits) or(d Limits) Limits {
	return Limits{
		PerTenant: cmp.Or(l.PerTenant, d.PerTenant),
		Total:     cmp.Or(l.Total, d.Total),
		Idle:      cmp.Or(l.Idle, d.Idle),
		Lifetime:  cmp.Or(l.Lifetime, d.Lifetime),
	}
}

// maxUsers is how many commands run or wait for their turn in one session.
const maxUsers = 8

// ErrNotFound is returned for a session that the tenant does not have: it never
// existed, it has ended, or it is another tenant's.
var ErrNotFound = errors.New("there is no such kept sandbox")

// A TooManyError is returned where a limit allows no further session.
type TooManyError struct {
	Most  int
	Yours bool // Most is the limit for one tenant; else it is for all
}

func (e *TooManyError) Error() string {
	if e.Yours {
		return fmt.Sprintf("at most %d sandboxes are kept for one client", e.Most)
	}
	return fmt.Sprintf("at most %d sandboxes are kept at once", e.Most)
}

// A Manager holds the open sessions of all tenants. Its methods may be called
// concurrently.
type Manager struct {
	runner  *sandbox.Runner
	limits  Limits
	life    *sandbox.Lifetime // ended by Close
	closing sync.WaitGroup    // closes of sandboxes; Close waits for them

	mu       sync.Mutex
	sessions map[string]*session // open ones, by id
	owned    map[string]int      // sessions by payer, opening and closing ones included; entries are never zero
	total    int                 // sum of owned
}

// A session is one open sandbox.
type session struct {
	command sandbox.Command // that it was opened for; its RunID is the session's id
	sandbox sandbox.Session
	turn    chan struct{}   // has room for one: the command that runs
	ctx     context.Context // done, with the reason as its cause, when the session has ended
	end     context.CancelCauseFunc
	closed  chan struct{} // closed when the sandbox is gone

	users    int         // commands that run or wait for their turn; under the manager's mutex
	idle     *time.Timer // stopped while there are users
	lifetime *time.Timer
}

// New returns a manager of sessions whose commands runner runs. It must be closed
// before the runner. limits may be nil.
func New(runner *sandbox.Runner, limits *Limits) *Manager {
	limits = cmp.Or(limits, &Limits{})
	return &Manager{
		runner: runner, limits: limits.or(DefaultLimits()), life: sandbox.NewLifetime(),
		sessions: map[string]*session{}, owned: map[string]int{},
	}
}

// Limits returns the limits of sessions.
func (m *Manager) Limits() Limits { return m.limits }

// Open opens a session of cmd.Tenant for commands like cmd, under the id cmd.RunID,
// which must be new and hard to guess. It ends by [Manager.End], when its idle time
// or its lifetime is over, when its tenant leaves, and with the manager.
//
// The error is a [*TooManyError], a [*sandbox.UnavailableError], also where the
// driver is no [sandbox.SessionDriver], [sandbox.ErrClosed], or the cause of ctx's
// end.
func (m *Manager) Open(ctx context.Context, cmd sandbox.Command) error {
	ctx, leave, err := m.life.Join(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := m.reserve(cmd.Tenant); err != nil {
		return err
	}
	cmd.Limits = cmd.Limits.Or(m.runner.Limits())
	opened, err := m.runner.Open(ctx, cmd)
	if err != nil {
		m.release(cmd.Tenant)
		return err
	}
	m.add(cmd, opened)
	return nil
}

// Run runs cmd in a session of cmd.Tenant, as [sandbox.Runner.RunIn] does. The error
// may also be [ErrNotFound], or [sandbox.ErrBusy] where too many commands wait for
// the session.
func (m *Manager) Run(ctx context.Context, id string, cmd sandbox.Command) (*sandbox.Result, error) {
	ctx, leave, err := m.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := m.acquire(cmd.Tenant, id)
	if err != nil {
		return nil, err
	}
	defer m.put(s)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	if err := s.wait(ctx, cmd.Progress); err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	result, err := m.runner.RunIn(ctx, s.sandbox, cmd)
	var lost *sandbox.UnavailableError
	if errors.As(err, &lost) && lost.Program == "" {
		m.drop(s, lost)
	}
	return result, err
}

// Command returns the command that a tenant's session was opened for, with its
// limits. The error is [ErrNotFound].
func (m *Manager) Command(tenant sandbox.Tenant, id string) (sandbox.Command, error) {
	s, err := m.find(tenant, id)
	if err != nil {
		return sandbox.Command{}, err
	}
	return s.command, nil
}

// End ends a tenant's session and returns when its sandbox is gone, or ctx is done.
// The error is [ErrNotFound] or the cause of ctx's end.
func (m *Manager) End(ctx context.Context, tenant sandbox.Tenant, id string) error {
	s, err := m.find(tenant, id)
	if err != nil {
		return err
	}
	m.drop(s, ended("it was closed"))
	select {
	case <-s.closed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave ends the sessions of a tenant that has left, and that has no more calls
// under way. It does not wait.
func (m *Manager) Leave(tenant sandbox.Tenant) {
	m.dropAll(func(s *session) bool { return s.command.Tenant.ID == tenant.ID }, ended("its client has left"))
}

// Close ends all sessions and waits until they are gone. It may be called more than
// once. Open and Run fail afterwards.
func (m *Manager) Close() {
	m.life.End()
	m.dropAll(func(*session) bool { return true }, sandbox.ErrClosed)
	m.closing.Wait()
}

// ended returns the error of a command whose session ended before it.
func ended(why string) error {
	return &sandbox.UnavailableError{Reason: "the kept sandbox has ended: " + why, Remedy: "open another one"}
}

// reserve counts a session that is about to be opened.
func (m *Manager) reserve(tenant sandbox.Tenant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.owned[payer(tenant)] >= m.limits.PerTenant:
		return &TooManyError{m.limits.PerTenant, true}
	case m.total >= m.limits.Total:
		return &TooManyError{m.limits.Total, false}
	}
	m.owned[payer(tenant)]++
	m.total++
	return nil
}

// release counts a session as gone.
func (m *Manager) release(tenant sandbox.Tenant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total--
	if m.owned[payer(tenant)]--; m.owned[payer(tenant)] == 0 {
		delete(m.owned, payer(tenant))
	}
}

// payer returns the name under which the sessions of a tenant are counted.
func payer(t sandbox.Tenant) string { return cmp.Or(t.Principal, t.ID) }

// add publishes an open session and starts its clocks.
func (m *Manager) add(cmd sandbox.Command, opened sandbox.Session) {
	s := &session{command: cmd, sandbox: opened, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[cmd.RunID] = s
	s.idle = time.AfterFunc(m.limits.Idle, func() { m.dropIdle(s) })
	s.lifetime = time.AfterFunc(m.limits.Lifetime, func() {
		m.drop(s, ended(fmt.Sprintf("its lifetime of %s is over", m.limits.Lifetime)))
	})
}

// find returns a tenant's session. Its error is the same for another tenant's
// session and for one that never existed.
func (m *Manager) find(tenant sandbox.Tenant, id string) (*session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil && s.command.Tenant.ID == tenant.ID {
		return s, nil
	}
	return nil, ErrNotFound
}

// acquire returns a session, which is not idle until it is put back.
func (m *Manager) acquire(tenant sandbox.Tenant, id string) (*session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	switch {
	case s == nil || s.command.Tenant.ID != tenant.ID:
		return nil, ErrNotFound
	case s.users == maxUsers:
		return nil, sandbox.ErrBusy
	}
	s.users++
	s.idle.Stop()
	return s, nil
}

// put ends one use of a session. After the last, its idle time begins.
func (m *Manager) put(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.users--; s.users == 0 && m.sessions[s.command.RunID] == s {
		s.idle.Reset(m.limits.Idle)
	}
}

// wait waits for a command's turn in the session.
func (s *session) wait(ctx context.Context, progress func(string)) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	default:
	}
	if progress != nil {
		progress("waiting for the other command in this sandbox")
	}
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drop ends one session.
func (m *Manager) drop(s *session, why error) {
	m.dropAll(func(other *session) bool { return other == s }, why)
}

// dropIdle ends a session unless a command has come meanwhile.
func (m *Manager) dropIdle(s *session) {
	why := ended(fmt.Sprintf("it was idle for %s", m.limits.Idle))
	m.dropAll(func(other *session) bool { return other == s && s.users == 0 }, why)
}

// dropAll ends sessions, which cannot be found from then on, and closes their
// sandboxes in the background.
func (m *Manager) dropAll(which func(*session) bool, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.sessions {
		if !which(s) {
			continue
		}
		delete(m.sessions, id)
		s.idle.Stop()
		s.lifetime.Stop()
		s.end(why)
		m.closing.Go(func() {
			_ = s.sandbox.Close() // the driver's Close comes after it, and reports
			m.release(s.command.Tenant)
			close(s.closed)
		})
	}
}
