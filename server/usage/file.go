package usage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// Bounds of the file. The skills that were not used for the longest time are evicted
// first.
const (
	maxNames = 1000
	maxName  = 256     // bytes
	maxUses  = 1 << 30 // of one skill
	maxFile  = 1 << 20 // bytes; JSON can make more of a name than its length
)

// lockWait is how long another process has to finish writing.
const lockWait = 500 * time.Millisecond

// entry is the use of one skill.
type entry struct {
	Uses int       `json:"uses"`
	Last time.Time `json:"last"`
}

// content is the JSON document of the file.
type content struct {
	Skills map[string]entry `json:"skills"`
}

// load reads the file. It returns nil for a file that cannot be read.
func load(file string) map[string]entry {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(data) > maxFile {
		return nil
	}
	return parse(data)
}

func parse(data []byte) map[string]entry {
	var c content
	if json.Unmarshal(data, &c) != nil {
		return nil
	}
	for name, e := range c.Skills {
		if e.Uses < 1 || e.Uses > maxUses || len(name) > maxName {
			delete(c.Skills, name)
		}
	}
	return newest(c.Skills)
}

// merge adds b's uses to those of a, which it changes.
func merge(a, b map[string]entry) map[string]entry {
	for name, e := range b {
		sum := entry{min(a[name].Uses+e.Uses, maxUses), e.Last}
		if last := a[name].Last; last.After(sum.Last) {
			sum.Last = last
		}
		a[name] = sum
	}
	return newest(a)
}

// newest evicts the oldest entries above maxNames.
func newest(all map[string]entry) map[string]entry {
	if len(all) <= maxNames {
		return all
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(all[b].Last.Compare(all[a].Last), cmp.Compare(a, b))
	})
	for _, name := range names[maxNames:] {
		delete(all, name)
	}
	return all
}

// add adds uses to those in the file, which is replaced atomically: a concurrent
// reader finds the old one or the new one.
func add(file string, uses map[string]entry) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	lock := flock.New(file + ".lock")
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("lock %s: %w", file, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	all := load(file)
	if all == nil {
		all = map[string]entry{}
	}
	data, err := json.Marshal(content{merge(all, uses)})
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, data)
}
