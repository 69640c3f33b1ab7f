package snapshot

import (
	"os"
	"time"
)

// A Use is the purpose of a snapshot.
type Use struct {
	// Skill is the same for all snapshots of one skill; it is never shown.
	Skill string
	// Lease is the duration of the use.
	Lease time.Duration
}

// A Snapshot is a copy of a skill's folder that nobody changes.
type Snapshot struct {
	// Dir is its absolute host path. Every user may read what is in it.
	Dir string
	// Digest is "sha256:" and 64 hexadecimal digits, over the paths, contents
	// and executable bits of all files.
	Digest string
}

// leaseMargin is added to a lease, so that the next calls need not extend it.
const leaseMargin = time.Minute

// lease extends a snapshot's lease, which is its modification time. A later one, of
// another use, stays.
func (u Use) lease(dir string) error {
	info, err := os.Lstat(dir)
	if until := time.Now().Add(u.Lease); err == nil && info.ModTime().Before(until) {
		until = until.Add(leaseMargin)
		err = os.Chtimes(dir, until, until)
	}
	return err
}
