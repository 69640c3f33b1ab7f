package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A Gap is a folder in which, or below which, changes go unnoticed.
type Gap struct {
	Path string // as in [Change]
	// Err says why, and the remedy where there is one: an [ErrLimit], an
	// [ErrFolders], an [fs.ErrPermission] or an error of the file system's.
	Err error
}

var (
	// ErrLimit means that the system has no more watches. Folders with a watch
	// stay watched. The wrapping error names the setting to raise.
	ErrLimit = errors.New("the system's limit of file watches is reached")
	// ErrFolders means that a root has more folders than [Options].Folders.
	ErrFolders = errors.New("too many folders to watch them all: split the folder or raise the limit of folders per root")
)

// The settings to raise for [ErrLimit], of watches and of watchers.
const (
	watchRemedy    = "fs.inotify.max_user_watches"
	instanceRemedy = "fs.inotify.max_user_instances"
)

// asLimit returns err, wrapped with [ErrLimit] if it reports an exhausted limit.
// setting names the limit on Linux; elsewhere it is that of open files.
func asLimit(err error, setting string) error {
	if errors.Is(err, ErrLimit) {
		return err
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return err
	}
	remedy := "raise the limit of open files (ulimit -n)"
	if runtime.GOOS == "linux" {
		remedy = "raise it with: sysctl " + setting + "=524288"
	}
	return fmt.Errorf("%w: %s (%w)", ErrLimit, remedy, err)
}

// gaps is the set of gaps. The tree writes it, anyone reads it.
type gaps struct {
	log *slog.Logger

	mu     sync.Mutex
	byPath map[string]error
	warned bool // of the limit of watches
}

// missing reports whether an error is of a path without a file, or of a closed notifier.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fsnotify.ErrClosed)
}

// replace replaces all gaps, and logs the new ones.
func (g *gaps) replace(all map[string]error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if _, known := g.byPath[path]; !known {
			g.warn(path, all[path])
		}
	}
	g.byPath = all
}

// warn logs a gap. The limit of watches affects every folder after the first, and
// is logged once.
func (g *gaps) warn(path string, err error) {
	if !errors.Is(err, ErrLimit) {
		g.log.Warn("folder is not watched: changes in it go unnoticed", "path", path, "err", err)
		return
	}
	if !g.warned {
		g.warned = true
		g.log.Warn("some folders are not watched but polled: changes in them are noticed later", "first", path, "err", err)
	}
}

func (g *gaps) list() []Gap {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Gap, 0, len(g.byPath))
	for path, err := range maps.All(g.byPath) {
		list = append(list, Gap{Path: path, Err: err})
	}
	slices.SortFunc(list, func(a, b Gap) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

func (g *gaps) limited() bool {
	return slices.ContainsFunc(g.list(), func(gap Gap) bool { return errors.Is(gap.Err, ErrLimit) })
}
