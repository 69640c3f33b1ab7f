package sandbox

import (
	"context"
	"sync"
)

// A Lifetime lasts from the start of something that runs commands to its close: runs
// join it, and its end ends them.
type Lifetime struct {
	ctx    context.Context // ends with End
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	ended bool
	runs  sync.WaitGroup // those that joined; End waits for them
}

// NewLifetime returns a lifetime that lasts until End.
func NewLifetime() *Lifetime {
	l := &Lifetime{}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// Context is done, with the cause [ErrClosed], when the lifetime has ended.
func (l *Lifetime) Context() context.Context { return l.ctx }

// Join lets a run be under way, with a context that also ends with the
// lifetime, until it calls leave. The error is [ErrClosed] once it has ended.
func (l *Lifetime) Join(ctx context.Context) (run context.Context, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, nil, ErrClosed
	}
	l.runs.Add(1)
	run, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.ctx, func() { cancel(ErrClosed) })
	return run, func() {
		stop()
		cancel(nil)
		l.runs.Done()
	}, nil
}

// During returns what do returns in a run that joins l. Where the run was ended, the failure
// of one without a result is the cause of the end: whatever failed, failed because of it.
func During[T comparable](ctx context.Context, l *Lifetime, do func(context.Context) (T, error)) (result T, err error) {
	ctx, leave, err := l.Join(ctx)
	if err != nil {
		return result, err
	}
	defer leave()
	var none T
	if result, err = do(ctx); err != nil && result == none && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return result, err
}

// End refuses new runs, ends those under way and waits for them.
func (l *Lifetime) End() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.cancel(ErrClosed)
	l.runs.Wait()
}
