package install

import (
	"context"
	"reflect"
	"runtime"
	"slices"

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
	results := make([][]Difference, len(chosen))
	err := parallel(len(chosen), 2*runtime.GOMAXPROCS(0), func(n int) (err error) {
		results[n], err = differences(ctx, i.target, chosen[n], &f.Entries[chosen[n]].State)
		return err
	})
	return slices.Concat(results...), err
}
