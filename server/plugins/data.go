package plugins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Bounds of data folders, in bytes.
const (
	maxData   = 256 << 20
	maxUnseen = 16 << 20  // that their file system loses until they are measured
	leastRoom = 512 << 20 // on their file system, for which servers that write are ended
)

// Pauses between two looks at data folders.
const (
	lookEvery = 10 * time.Second       // at all of them
	idleEvery = time.Second            // at the room on their file system, while no server has a call
	roomEvery = 250 * time.Millisecond // while one has
	fastEvery = 50 * time.Millisecond  // while it shrinks
)

// errNoRoom ends servers that may have filled a file system with files that have no name.
var errNoRoom = errors.New("the file system of its data folder has less than " + sandbox.Bytes(leastRoom))

// checkData returns an error for a data folder that is too large; "" is none.
func checkData(dir string) error {
	if dir == "" {
		return nil
	}
	var size int64
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone meanwhile, or is closed
		}
		size += 4 << 10
		if info, err := d.Info(); err == nil {
			size += max(info.Size(), allocated(info))
		}
		if size > maxData {
			return filepath.SkipAll
		}
		return nil
	})
	if err == nil && size > maxData {
		return &sandbox.UnavailableError{Reason: fmt.Sprintf("its data folder has more than %s", sandbox.Bytes(maxData)), Remedy: "remove files from " + dir}
	}
	return nil
}

// A dataWatch bounds the data folders, which are on one file system, of the servers that run.
// No quota works for an ordinary user and on all drivers. To ask a file system for its room
// takes some microseconds, so it is asked often, and the folders are measured when it has
// lost some. The zero value is ready to use.
type dataWatch struct {
	last   int64 // room at the last look
	most   int64 // since the folders were measured
	looked time.Time
}

// look calls measure if it is time to measure the folders, and returns the pause until the
// next look. room is that on the file system; full reports that it is filled.
func (w *dataWatch) look(room int64, measure func(full bool)) (pause time.Duration) {
	began := time.Now()
	if pause = roomEvery; room < w.last {
		pause = fastEvery
	}
	if w.looked.IsZero() {
		w.looked = began // each server's folder was measured when it was started
	}
	w.last, w.most = room, max(w.most, room)
	lost := w.most-room > maxUnseen
	if !lost && began.Sub(w.looked) < lookEvery {
		return pause
	}
	measure(lost && room < leastRoom)
	w.most, w.looked = room, time.Now()
	return max(pause, 2*w.looked.Sub(began))
}
