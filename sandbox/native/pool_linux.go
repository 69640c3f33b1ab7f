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
	// defaultWarm is how many inits are ready between calls.
	defaultWarm = 4
	// idleTime is how long a zygote and its idle inits are kept without a call.
	idleTime = 5 * time.Minute
	// refillTime is how long a command is not disturbed.
	refillTime = 50 * time.Millisecond
)

// A pool has inits ready for commands: any init is fit for any command. It holds
// no process before the first one, and none a while after the last.
type pool struct {
	host   *host
	warm   int             // how many are to be ready
	egress *egress.Options // of the proxies of sandboxes with hosts

	work sync.WaitGroup // what goes on behind calls; close waits for it

	mother sync.Mutex // held while the zygote is looked for or started

	mu      sync.Mutex
	zygote  *zygote        // nil without
	idle    []*box         // ready, the oldest first
	filling bool           // a goroutine fills idle
	boxes   int            // those that are not closed yet
	limits  sandbox.Limits // of the last command, and so perhaps of the next
	timer   *time.Timer    // for the end of idleTime; nil before the first command
	closed  bool
}

func newPool(h *host, warm int, egress *egress.Options) *pool {
	return &pool{host: h, warm: warm, egress: egress, limits: sandbox.DefaultLimits()}
}

// take returns a box with limits: a ready one, or else one that is started for
// it.
func (p *pool) take(limits sandbox.Limits) (*box, error) {
	b, closed := p.pop(limits)
	if closed {
		return nil, sandbox.ErrClosed
	}
	if b == nil {
		return p.make(limits)
	}
	b.group.limit(limits)
	return b, nil
}

// refill has a box made ready for the one that is taken, unless warm, the
// command's own wish, is negative: when done is called, as it would be in the way
// of a short command, or soon.
func (p *pool) refill(warm int) (done func()) {
	if warm < 0 {
		return func() {}
	}
	timer := time.AfterFunc(refillTime, p.fill)
	return func() {
		if timer.Stop() {
			p.fill()
		}
	}
}

// pop returns a ready box, nil without one.
func (p *pool) pop(limits sandbox.Limits) (b *box, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits = limits
	if p.timer == nil {
		p.timer = time.AfterFunc(idleTime, p.expire)
	} else {
		p.timer.Reset(idleTime)
	}
	for len(p.idle) > 0 {
		b, p.idle = p.idle[0], p.idle[1:]
		if b.lives() {
			return b, p.closed
		}
		p.dropLocked(b) // killed by somebody else
	}
	return nil, p.closed
}

// make returns the box of an init that it starts. A zygote that was killed is replaced.
func (p *pool) make(limits sandbox.Limits) (*box, error) {
	p.mu.Lock()
	p.boxes++ // which keeps the zygote
	p.mu.Unlock()
	b, err := p.tryMake(limits)
	if errors.Is(err, errZygote) {
		b, err = p.tryMake(limits)
	}
	if err != nil {
		p.mu.Lock()
		p.boxes--
		p.mu.Unlock()
		return nil, err
	}
	return b, nil
}

func (p *pool) tryMake(limits sandbox.Limits) (*box, error) {
	z, err := p.findZygote()
	if err != nil {
		return nil, err
	}
	group := p.host.cgroups.acquire(limits)
	b, err := newBox(z, group)
	if err != nil {
		group.release()
		if errors.Is(err, errZygote) {
			p.lose(z)
		}
		return nil, err
	}
	if err := b.awaitReady(p.host.generic); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// open opens trees of mounts. A zygote that was killed is replaced.
func (p *pool) open(mounts []mount) ([]int, error) {
	trees, err := p.tryOpen(mounts)
	if errors.Is(err, errZygote) {
		trees, err = p.tryOpen(mounts)
	}
	return trees, err
}

func (p *pool) tryOpen(mounts []mount) ([]int, error) {
	z, err := p.findZygote()
	if err != nil {
		return nil, err
	}
	trees, err := z.open(mounts)
	if errors.Is(err, errZygote) {
		p.lose(z)
	}
	return trees, err
}

// findZygote returns the zygote, which it starts where there is none.
func (p *pool) findZygote() (*zygote, error) {
	p.mother.Lock()
	defer p.mother.Unlock()
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

// lose forgets a zygote that has ended.
func (p *pool) lose(z *zygote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.zygote == z {
		p.zygote = nil
		p.work.Go(z.close)
	}
}

// fill sees to it that enough boxes are made ready.
func (p *pool) fill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.filling || p.closed || len(p.idle) >= p.warm {
		return
	}
	p.filling = true
	p.work.Go(func() {
		for p.fillOne() {
		}
	})
}

// fillOne makes one box ready, and reports whether to go on.
func (p *pool) fillOne() bool {
	p.mu.Lock()
	limits := p.limits
	if p.closed || len(p.idle) >= p.warm {
		p.filling = false
		p.mu.Unlock()
		return false
	}
	p.mu.Unlock()
	b, err := p.make(limits)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.filling = false // the next call says what is wrong, if it still is
		return false
	}
	p.idle = append(p.idle, b)
	if p.closed {
		p.dropIdleLocked()
	}
	return true
}

// drop ends a box in the background.
func (p *pool) drop(b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropLocked(b)
}

func (p *pool) dropLocked(b *box) {
	p.work.Go(func() {
		b.close()
		p.mu.Lock()
		p.boxes--
		p.mu.Unlock()
	})
}

func (p *pool) dropIdleLocked() {
	for _, b := range p.idle {
		p.dropLocked(b)
	}
	p.idle = nil
}

// expire ends what has not been used for some time.
func (p *pool) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	busy := p.boxes > len(p.idle)
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
	p.mother.Lock() // a zygote that is being started is there afterwards
	p.mu.Lock()
	z := p.zygote
	p.zygote = nil
	p.mu.Unlock()
	p.mother.Unlock()
	if z != nil {
		z.close()
	}
	p.work.Wait()
}
