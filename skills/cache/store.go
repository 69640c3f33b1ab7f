// Package cache stores the skills that a scan read in a file, so that the next start
// reads only those that have changed. Start with [New].
//
// An entry is valid as long as every file that the scan looked at has the same
// device, inode, size, mode and times (on systems other than Linux: size, mode and
// time of change). A file that changed within the last two seconds is not stored: it
// could change again without a trace. A cache that is damaged, of another version or
// too large counts as empty; if only long instructions are damaged, reading them is
// an error. No content of the cache is executed: each call reads its script from the
// skill's folder.
package cache

import (
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// Options configure a [Store].
type Options struct {
	// Version identifies the program, each build of it, and its settings. A cache of
	// another version counts as empty.
	Version string
	// Logger gets the reason why a file was not written; nil discards it.
	Logger *slog.Logger
}

// A Store is a file of skills and folders.
type Store struct {
	path    string
	options Options
	saving  sync.WaitGroup // goroutines that save
	file    sync.Mutex     // held by the one that writes the file
}

// New returns the store in a file. The first save makes the file's folder, which
// holds caches only: a save removes all but the newest 16. New reads nothing. Options
// may be nil.
func New(file string, options *Options) *Store {
	s := &Store{path: file}
	if options != nil {
		s.options = *options
	}
	if s.options.Logger == nil {
		s.options.Logger = slog.New(slog.DiscardHandler)
	}
	return s
}

// Wait waits until all closed caches are saved.
func (s *Store) Wait() { s.saving.Wait() }

// Open reads the file, for one scan. Closing the cache saves its new entries in the
// background.
func (s *Store) Open() scan.Cache {
	c := &cache{store: s, now: time.Now()}
	file, size, err := openFile(s.path)
	if err != nil {
		return c
	}
	if c.entries, err = parse(file, size, s.options.Version); err != nil {
		c.entries = nil
	}
	if err != nil || !lazy {
		file.Close() // nothing refers to it
	}
	return c
}

// A cache is the content of a file, and the new entries of a scan. The keys of entries
// are "s" and the key of a skill, and "f" and the path of a folder.
type cache struct {
	store   *Store
	now     time.Time         // of Open
	entries map[string]*entry // of the file

	mu    sync.Mutex
	added map[string]*entry // new entries
}

// find returns the entry of a key, or nil for one that is outdated.
func (c *cache) find(key string) *entry {
	e := c.entries[key]
	if e == nil || !e.current() {
		return nil
	}
	return e
}

// Skill implements [scan.Cache].
func (c *cache) Skill(key string, skill *skills.Skill) bool {
	e := c.find("s" + key)
	if e == nil || !e.fill(key, skill) {
		return false
	}
	e.used.Store(true)
	return true
}

// KeepSkill implements [scan.Cache]. The skill becomes what the next start reads: in
// less memory, without long instructions and decoded schemas.
func (c *cache) KeepSkill(key string, skill *skills.Skill, looks []scan.Look) {
	encoded, settled := encodeLooks(looks, c.now)
	if !settled {
		return
	}
	e, err := newSkillEntry(encoded, skill)
	if err != nil {
		c.store.options.Logger.Debug("a skill is not kept for the next start", "skill", skill.File, "error", err)
		return
	}
	e.fill(key, skill)
	c.add("s"+key, e)
}

// Folder implements [scan.Cache].
func (c *cache) Folder(dir string) ([]fs.DirEntry, bool) {
	e := c.find("f" + dir)
	if e == nil {
		return nil, false
	}
	r := codec{reading: true, unread: e.value}
	entries := r.folder(nil)
	if r.err != nil {
		return nil, false
	}
	e.used.Store(true)
	return entries, true
}

// KeepFolder implements [scan.Cache].
func (c *cache) KeepFolder(at scan.Look, entries []fs.DirEntry) {
	encoded, settled := encodeLooks([]scan.Look{at}, c.now)
	if !settled {
		return
	}
	w := codec{}
	w.folder(entries)
	c.add("f"+at.Path, &entry{looks: encoded, value: string(w.written)})
}

func (c *cache) add(key string, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.added == nil {
		c.added = map[string]*entry{}
	}
	c.added[key] = e
}

// Close implements [scan.Cache]. If there are new entries, it saves them and those
// that were asked for, and drops the others.
func (c *cache) Close() {
	entries, added := c.entries, c.added
	c.entries, c.added = nil, nil
	if len(added) == 0 {
		return
	}
	for key, e := range entries {
		if e.used.Load() && added[key] == nil {
			added[key] = e
		}
	}
	c.store.saving.Go(func() {
		c.store.file.Lock()
		defer c.store.file.Unlock()
		if err := c.store.save(added); err != nil {
			c.store.options.Logger.Warn("the next start reads all skills again: nothing could be kept", "error", err)
		}
	})
}

// save writes the entries. Their new texts are then read from the file, which is opened
// before it has its name: another process may replace it.
func (s *Store) save(entries map[string]*entry) error {
	var texts map[string]location
	var file *os.File
	err := writeFile(s.path, func(w io.Writer) (err error) {
		if texts, err = format(w, entries, s.options.Version); err == nil && lazy {
			file, _ = os.Open(w.(*os.File).Name()) // else the texts stay in memory
		}
		return err
	})
	if file == nil {
		return err
	}
	for key, at := range texts {
		entries[key].text.moveTo(file, at)
	}
	return err
}
