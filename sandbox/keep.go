package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Keeping bounds kept sandboxes. A zero field means the default of
// [DefaultKeeping].
type Keeping struct {
	PerCaller int           // sandboxes of one caller
	Total     int           // sandboxes of all callers
	Idle      time.Duration // how long one is kept without a command
	Lifetime  time.Duration // how long one is kept at the most
}

// DefaultKeeping returns the bounds of a configuration that says nothing.
func DefaultKeeping() Keeping {
	return Keeping{PerCaller: 2, Total: 8, Idle: 10 * time.Minute, Lifetime: time.Hour}
}

// Or returns k with every zero field taken from d.
func (k Keeping) Or(d Keeping) Keeping {
	or(&k.PerCaller, d.PerCaller)
	or(&k.Total, d.Total)
	or(&k.Idle, d.Idle)
	or(&k.Lifetime, d.Lifetime)
	return k
}

// maxUsers is how many commands run or wait for their turn in one sandbox.
const maxUsers = 8

// ErrNotKept is returned for a sandbox that the caller does not have: it never
// was, it has ended, or it is another's.
var ErrNotKept = errors.New("there is no such kept sandbox")

// A TooManyError says that no more sandboxes can be kept.
type TooManyError struct {
	Most  int
	Yours bool // Most is for one caller; else it is for all
}

func (e *TooManyError) Error() string {
	if e.Yours {
		return fmt.Sprintf("at most %d sandboxes are kept for one client", e.Most)
	}
	return fmt.Sprintf("at most %d sandboxes are kept at once", e.Most)
}

// keep holds the kept sandboxes of a [Runner].
type keep struct {
	keeping Keeping
	closing sync.WaitGroup // closes of sandboxes; Runner.Close waits for them

	mu     sync.Mutex
	boxes  map[string]*box // those that can be used, by id
	places map[string]int  // sandboxes by caller, also those that open or close; entries are never zero
	total  int             // sum of places
}

// box is one kept sandbox.
type box struct {
	id      string
	command Command // that it was opened for
	kept    Kept
	turn    chan struct{}   // has room for one: the command that runs
	life    context.Context // done, with the reason as its cause, when the box has ended
	end     context.CancelCauseFunc
	gone    chan struct{} // closed when nothing is left of it

	users    int         // commands that run or wait for their turn; under keep's mutex
	idle     *time.Timer // stopped while there are users
	lifetime *time.Timer
}

func newKeep(keeping Keeping) *keep {
	return &keep{keeping: keeping, boxes: map[string]*box{}, places: map[string]int{}}
}

// Open makes a sandbox that is kept for commands like cmd of one caller, under
// the id cmd.RunID, which must be new and hard to guess. It ends by
// [Runner.CloseKept], when its times of [Keeping] are over, when its caller
// leaves, and with the runner.
//
// The error is a [*TooManyError], an [*UnavailableError], also where the driver
// is no [Keeper], [ErrClosed], or the cause of ctx's end.
func (r *Runner) Open(ctx context.Context, cmd Command) error {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := r.keep.reserve(cmd.Tenant.ID); err != nil {
		return err
	}
	if cmd.Progress == nil {
		cmd.Progress = func(string) {}
	}
	cmd.Limits = cmd.Limits.Or(r.limits)
	kept, err := open(ctx, r.driver, &cmd)
	if err != nil {
		r.keep.release(cmd.Tenant.ID)
		return err
	}
	r.keep.add(cmd, kept)
	return nil
}

func cannotKeep() error {
	return &UnavailableError{Reason: "this sandbox driver cannot keep a sandbox between calls", Remedy: "run each call in a sandbox of its own, without container_id"}
}

// RunIn runs cmd in a sandbox that the caller has opened, as [Runner.Run] does
// in a fresh one; see [Kept] for what of cmd counts. The error may also be
// [ErrNotKept].
func (r *Runner) RunIn(ctx context.Context, id string, cmd Command) (*Result, error) {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b, err := r.keep.use(cmd.Tenant, id)
	if err != nil {
		return nil, err
	}
	defer r.keep.unuse(b)
	defer context.AfterFunc(b.life, func() { cancel(context.Cause(b.life)) })()

	if cmd.Progress == nil {
		cmd.Progress = func(string) {}
	}
	if err := b.take(ctx, cmd.Progress); err != nil {
		return nil, err
	}
	defer func() { <-b.turn }()
	release, err := r.gate.acquire(ctx, cmd.Tenant, cmd.Skill, func() { cmd.Progress(waiting) })
	if err != nil {
		return nil, err
	}
	defer release()
	result, err := run(ctx, cancel, b.kept.Run, cmd, cmd.Limits.Or(r.limits))
	var lost *UnavailableError
	if errors.As(err, &lost) && lost.Program == "" {
		r.keep.drop(b, lost)
	}
	return result, err
}

// Kept returns the command that a caller's sandbox was opened for, with its
// limits. The error is [ErrNotKept].
func (r *Runner) Kept(tenant Tenant, id string) (Command, error) {
	b, err := r.keep.find(tenant, id)
	if err != nil {
		return Command{}, err
	}
	return b.command, nil
}

// CloseKept ends a sandbox of the caller's and returns when it is gone, or ctx
// is done. The error is [ErrNotKept] or the cause of ctx's end.
func (r *Runner) CloseKept(ctx context.Context, tenant Tenant, id string) error {
	b, err := r.keep.find(tenant, id)
	if err != nil {
		return err
	}
	r.keep.drop(b, over("it was closed"))
	select {
	case <-b.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave ends the sandboxes of a caller who has left, and who has no more calls
// under way. It does not wait.
func (r *Runner) Leave(tenant Tenant) {
	r.keep.dropAll(func(b *box) bool { return b.command.Tenant.ID == tenant.ID }, over("its client has left"))
}

// Keeping are the bounds of kept sandboxes.
func (r *Runner) Keeping() Keeping { return r.keep.keeping }

// over is why a command in a kept sandbox did not go on.
func over(why string) error {
	return &UnavailableError{Reason: "the kept sandbox has ended: " + why, Remedy: "open another one"}
}

// reserve takes a place for a sandbox that is about to be opened.
func (k *keep) reserve(caller string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.places[caller] >= k.keeping.PerCaller:
		return &TooManyError{k.keeping.PerCaller, true}
	case k.total >= k.keeping.Total:
		return &TooManyError{k.keeping.Total, false}
	}
	k.places[caller]++
	k.total++
	return nil
}

func (k *keep) release(caller string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total--
	decrement(k.places, caller)
}

// add takes a sandbox in, and starts its clocks.
func (k *keep) add(cmd Command, kept Kept) {
	b := &box{id: cmd.RunID, command: cmd, kept: kept, turn: make(chan struct{}, 1), gone: make(chan struct{})}
	b.life, b.end = context.WithCancelCause(context.Background())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.boxes[b.id] = b
	b.idle = time.AfterFunc(k.keeping.Idle, func() { k.dropIdle(b) })
	b.lifetime = time.AfterFunc(k.keeping.Lifetime, func() {
		k.drop(b, over(fmt.Sprintf("its lifetime of %s is over", k.keeping.Lifetime)))
	})
}

// find returns a caller's sandbox. It does not tell one of another caller from
// one that never was.
func (k *keep) find(tenant Tenant, id string) (*box, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.boxes[id]; b != nil && b.command.Tenant.ID == tenant.ID {
		return b, nil
	}
	return nil, ErrNotKept
}

// use finds a sandbox, which is not idle until unuse.
func (k *keep) use(tenant Tenant, id string) (*box, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.boxes[id]
	switch {
	case b == nil || b.command.Tenant.ID != tenant.ID:
		return nil, ErrNotKept
	case b.users == maxUsers:
		return nil, ErrBusy
	}
	b.users++
	b.idle.Stop()
	return b, nil
}

func (k *keep) unuse(b *box) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b.users--; b.users == 0 && k.boxes[b.id] == b {
		b.idle.Reset(k.keeping.Idle)
	}
}

// take waits for the command's turn in the sandbox.
func (b *box) take(ctx context.Context, progress func(string)) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	default:
	}
	progress("waiting for the other command in this sandbox")
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *keep) drop(b *box, why error) {
	k.dropAll(func(other *box) bool { return other == b }, why)
}

func (k *keep) dropIdle(b *box) {
	why := over(fmt.Sprintf("it was idle for %s", k.keeping.Idle))
	k.dropAll(func(other *box) bool { return other == b && b.users == 0 }, why)
}

// dropAll ends sandboxes, which cannot be found from then on, and has them
// closed beside.
func (k *keep) dropAll(which func(*box) bool, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, b := range k.boxes {
		if !which(b) {
			continue
		}
		delete(k.boxes, id)
		b.idle.Stop()
		b.lifetime.Stop()
		b.end(why)
		k.closing.Go(func() {
			_ = b.kept.Close() // the driver's Close comes after it, and reports
			k.release(b.command.Tenant.ID)
			close(b.gone)
		})
	}
}

// close ends all sandboxes and waits until they are gone. Nothing is opened any
// more.
func (k *keep) close() {
	k.dropAll(func(*box) bool { return true }, ErrClosed)
	k.closing.Wait()
}
