package install

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// maxTries bounds the verifications of one request while other processes change the lock.
const maxTries = 3

// Verify compares the files of entries with the lock. Names choose entries; none is all.
// It needs no network and changes nothing but a change that an earlier process did not end.
func (i *Installer) Verify(ctx context.Context, names ...string) ([]Difference, error) {
	for try := 1; ; try++ {
		f, err := i.settled(ctx)
		if err != nil {
			return nil, err
		}
		chosen, err := choose(f, names)
		if err != nil {
			return nil, err
		}
		found, err := i.verify(ctx, f, chosen)
		if err != nil || len(found) == 0 || try == maxTries {
			return found, err
		}
		if again, err := i.Installed(); err == nil && reflect.DeepEqual(f, again) {
			return found, nil
		}
	}
}

// settled returns the content of the lock file when no change is under way. A target that
// cannot be written to needs none.
func (i *Installer) settled(ctx context.Context) (*lock.File, error) {
	f, err := i.Installed()
	if err != nil || !pending(f) {
		return f, err
	}
	c, err := i.begin(ctx)
	if err != nil {
		return nil, err
	}
	return c.File, c.Close()
}

// verify compares entries, several at a time.
func (i *Installer) verify(ctx context.Context, f *lock.File, chosen []string) ([]Difference, error) {
	var workers sync.WaitGroup
	results, errs, todo := make([][]Difference, len(chosen)), make([]error, len(chosen)), make(chan int)
	for range min(len(chosen), 2*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for n := range todo {
				results[n], errs[n] = differences(ctx, i.target, chosen[n], &f.Entries[chosen[n]].State)
			}
		})
	}
	for n := range chosen {
		todo <- n
	}
	close(todo)
	workers.Wait()
	return slices.Concat(results...), errors.Join(errs...)
}
