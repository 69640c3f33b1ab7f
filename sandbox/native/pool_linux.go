//go:build amd64 || arm64

package native

import (
	"errors"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

const (
	// defaultWarm is the number of inits that are ready between calls.
	defaultWarm = 4
	// idleTime is the time without a call after which the zygote and idle inits end.
	idleTime = 5 * time.Minute
	// refillTime is the time after which a refill may slow down a running command.
	refillTime = 50 * time.Millisecond
	// answerTime is the time between a command's end and the work that follows it: the
	// end of its sandbox, and the start of another. It leaves the processors to the
	// answer and to the client that waits for it.
	answerTime = time.Millisecond
)

// A pool starts inits ahead of commands. An idle init fits any command; a prepared one
// has the mounts, limits and restrictions of a recipe, and fits commands with an equal
// recipe. The pool prepares one for each of the last recipes. It holds no process before
// the first command, and none some time after the last.
type pool struct {
	host   *host
	warm   int             // how many should be ready
	egress *egress.Options // of the proxies of sandboxes with hosts
	taken  func(ready bool)

	work sync.WaitGroup // in the background; close waits for it

	zygoteMu sync.Mutex // held while the zygote is started

	mu        sync.Mutex
	zygote    *zygote        // nil without
	idle      []*instance    // ready, the oldest first
	prepared  *preparedSet   // ready, with the setups of the last recipes
	filling   bool           // a goroutine fills idle
	instances int            // those that are not closed yet
	limits    sandbox.Limits // of the last command, and so perhaps of the next
	timer     *time.Timer    // for the end of idleTime; nil before the first command
	closed    bool
}

func newPool(h *host, warm int, egress *egress.Options) *pool {
	p := &pool{host: h, warm: warm, egress: egress, limits: sandbox.DefaultLimits(), taken: func(bool) {}}
	p.prepared = newPreparedSet(warm, p.dropLocked)
	return p
}

// acquire returns an instance with limits: a ready one, or a new one.
func (p *pool) acquire(limits sandbox.Limits) (*instance, error) {
	b, closed := p.pop(limits)
	if closed {
		return nil, sandbox.ErrClosed
	}
	p.taken(b != nil)
	if b == nil {
		return p.start(limits)
	}
	b.group.limit(limits)
	return b, nil
}

// refillDuring replaces the instance of a command that has started after refillTime,
// unless stop is called: to replace it at once would slow down a short command. It does
// nothing if warm, the command's own wish, is negative.
func (p *pool) refillDuring(warm int, r *recipe) (stop func()) {
	if warm < 0 {
		return func() {}
	}
	timer := time.AfterFunc(refillTime, func() { p.fill(r) })
	return func() { timer.Stop() }
}

// retire ends an instance after its command, and replaces it unless warm, the command's
// own wish, is negative: in the background, after answerTime.
func (p *pool) retire(b *instance, warm int, r *recipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work.Add(1)
	time.AfterFunc(answerTime, func() {
		defer p.work.Done()
		p.drop(b)
		if warm >= 0 {
			p.fill(r)
		}
	})
}

// popPrepared returns an instance that was prepared for a recipe, or nil. The folders of
// its recipe, and all mounts in its workspaces, are as they were.
func (p *pool) popPrepared(r *recipe) *instance {
	if r == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.prepared.pop(r)
	if b != nil {
		p.usedLocked(r.limits)
	}
	return b
}

// usedLocked notes the limits of a command, and that there was one.
func (p *pool) usedLocked(limits sandbox.Limits) {
	p.limits = limits
	if p.timer == nil {
		p.timer = time.AfterFunc(idleTime, p.expire)
	} else {
		p.timer.Reset(idleTime)
	}
}

// pop returns a ready instance, or nil.
func (p *pool) pop(limits sandbox.Limits) (b *instance, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.usedLocked(limits)
	for len(p.idle) > 0 {
		b, p.idle = p.idle[0], p.idle[1:]
		if b.lives() {
			return b, p.closed
		}
		p.dropLocked(b) // killed by somebody else
	}
	return nil, p.closed
}

// start forks an init and waits until it is ready. It replaces a zygote that
// was killed.
func (p *pool) start(limits sandbox.Limits) (*instance, error) {
	p.mu.Lock()
	p.instances++ // which keeps the zygote
	p.mu.Unlock()
	b, err := p.tryStart(limits)
	if errors.Is(err, errZygote) {
		b, err = p.tryStart(limits)
	}
	if err != nil {
		p.mu.Lock()
		p.instances--
		p.mu.Unlock()
		return nil, err
	}
	return b, nil
}

func (p *pool) tryStart(limits sandbox.Limits) (*instance, error) {
	z, err := p.ensureZygote()
	if err != nil {
		return nil, err
	}
	group := p.host.cgroups.acquire(limits)
	b, err := newInstance(z, group, p.host.user)
	if err != nil {
		group.release()
		if errors.Is(err, errZygote) {
			p.forgetZygote(z)
		}
		return nil, err
	}
	if err := b.awaitReady(p.host.generic); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// open opens mount trees in the zygote. It replaces a zygote that was killed.
func (p *pool) open(mounts []mount) ([]int, error) {
	trees, err := p.tryOpen(mounts)
	if errors.Is(err, errZygote) {
		trees, err = p.tryOpen(mounts)
	}
	return trees, err
}

func (p *pool) tryOpen(mounts []mount) ([]int, error) {
	z, err := p.ensureZygote()
	if err != nil {
		return nil, err
	}
	trees, err := z.open(mounts)
	if errors.Is(err, errZygote) {
		p.forgetZygote(z)
	}
	return trees, err
}

// ensureZygote returns the zygote, which it starts if there is none.
func (p *pool) ensureZygote() (*zygote, error) {
	p.zygoteMu.Lock()
	defer p.zygoteMu.Unlock()
	p.mu.Lock()
	z, closed := p.zygote, p.closed
	p.mu.Unlock()
	if z != nil {
		return z, nil
	}
	if closed {
		return nil, sandbox.ErrClosed
	}
	z, err := startZygote(p.host)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.zygote = z
	p.mu.Unlock()
	return z, nil
}

// forgetZygote removes a zygote that has ended.
func (p *pool) forgetZygote(z *zygote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.zygote == z {
		p.zygote = nil
		p.work.Go(z.close)
	}
}

// fill starts a goroutine that starts instances until enough are ready, one of them with
// the setup of the recipe, which may be nil.
func (p *pool) fill(r *recipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if r != nil {
		p.prepared.want(r)
	}
	if p.filling || len(p.idle) >= p.warm && p.prepared.missing() == nil {
		return
	}
	p.filling = true
	p.work.Go(func() {
		for p.fillOne() {
		}
	})
}

// fillOne starts one instance, and reports whether to continue.
func (p *pool) fillOne() bool {
	p.mu.Lock()
	limits, r := p.limits, p.prepared.missing()
	if p.closed || len(p.idle) >= p.warm && r == nil {
		p.filling = false
		p.mu.Unlock()
		return false
	}
	p.mu.Unlock()
	if r != nil {
		limits = r.limits
	}
	b, err := p.start(limits)
	if err == nil && r != nil && p.prepare(b, r) != nil {
		p.drop(b)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.prepared.unwant(r) // the next command returns the error, if it still occurs
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		p.filling = false // the next call returns the error, if it still occurs
		return false
	case r != nil:
		p.prepared.add(b)
	default:
		p.idle = append(p.idle, b)
	}
	if p.closed {
		p.dropIdleLocked()
	}
	return true
}

// prepare makes the setup of a recipe in an instance.
func (p *pool) prepare(b *instance, r *recipe) error {
	workspaces := r.workspaces()
	p.mu.Lock()
	view := p.prepared.view(workspaces)
	p.mu.Unlock()
	trees, err := p.host.openMounts(r.mounts, p.open)
	if err != nil {
		return err
	}
	defer closeAll(trees)
	if !r.shows(trees) {
		return errMoved
	}
	if err := b.prepare(p.host, r, trees); err != nil {
		return err
	}
	b.prepared, b.workspaces, b.view = r, workspaces, view
	return nil
}

// errMoved says that a recipe's folder is not where it was.
var errMoved = errors.New("another folder is there now")

// drop ends an instance in the background.
func (p *pool) drop(b *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropLocked(b)
}

func (p *pool) dropLocked(b *instance) {
	p.work.Go(func() {
		b.close()
		p.mu.Lock()
		p.instances--
		p.mu.Unlock()
	})
}

// dropIdleLocked drops all that is ready, and what is prepared for.
func (p *pool) dropIdleLocked() {
	for _, b := range p.idle {
		p.dropLocked(b)
	}
	p.idle = nil
	p.prepared.clear()
}

// expire ends all idle processes.
func (p *pool) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	busy := p.instances > len(p.idle)+len(p.prepared.ready)
	p.dropIdleLocked()
	if busy || p.filling {
		p.timer.Reset(idleTime)
		return
	}
	if p.zygote != nil {
		p.work.Go(p.zygote.close)
		p.zygote = nil
	}
}

// close ends everything and waits for it. No command runs any more.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.dropIdleLocked()
	p.mu.Unlock()
	p.zygoteMu.Lock() // a zygote that is being started is there afterwards
	p.mu.Lock()
	z := p.zygote
	p.zygote = nil
	p.mu.Unlock()
	p.zygoteMu.Unlock()
	if z != nil {
		z.close()
	}
	p.work.Wait()
	p.prepared.mounts.close()
}
