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
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// Options configure a [Store].
type Options struct {
	// Version identifies the program and its settings. A cache of another version
	// counts as empty.
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
	if c.entries, err = parse(file, size, s.version()); err != nil {
		c.entries = nil
		file.Close() // nothing refers to it
		return c
	}
	if !lazy {
		c.file = file
	}
	return c
}

func (s *Store) version() string {
	version := s.options.Version
	for _, t := range append(concrete[1:], reflect.TypeFor[skills.Skill]()) {
		version += " " + layout(t)
	}
	return version
}

// A cache is the content of a file, and the new entries of a scan. The keys of entries
// are "s" and the key of a skill, and "f" and the path of a folder.
type cache struct {
	store   *Store
	now     time.Time        // of Open
	file    *os.File         // closed by Close; nil if skills read it later: it is closed after the last of them
	entries map[string]entry // of the file; not changed

	mu      sync.Mutex
	used    map[string]entry // the valid entries that were asked for, and the new ones
	added   int              // new entries
	doubted []string         // files that could change without a trace
	opened  []string         // folders that could
}

// withoutPlace returns a copy of a skill and its tools without their location, which
// the key names. The key of a package does not name the skill's file in it, which
// remains.
func withoutPlace(s *skills.Skill) skills.Skill {
	c := *s
	c.Files, c.Source, c.PluginDir, c.Plugin, c.Workspace, c.Of, c.Stored = nil, "", "", "", "", nil, nil
	if c.Dir != "" {
		c.Dir, c.File = "", ""
	}
	c.Tools = slices.Clone(s.Tools)
	for i, tool := range c.Tools {
		without := withoutPlace(tool)
		without.File = tool.File // it may differ from the skill's
		c.Tools[i] = &without
	}
	return c
}

// place gives a skill and its tools the location of another.
func place(s, at *skills.Skill) {
	s.Files, s.Source, s.Dir, s.PluginDir, s.Plugin, s.Workspace = at.Files, at.Source, at.Dir, at.PluginDir, at.Plugin, at.Workspace
	if s.Dir != "" {
		s.File = at.File
	}
	for _, tool := range s.Tools {
		file := tool.File
		place(tool, at)
		tool.File = file
	}
}

// Skill implements [scan.Cache].
func (c *cache) Skill(key string, skill *skills.Skill) bool {
	e, found := c.entries["s"+key]
	if !found || !e.current() {
		return false
	}
	stored, err := decode[skills.Skill](e.value)
	if err != nil || e.text != nil && !e.text.fill(&stored) {
		return false
	}
	place(&stored, skill)
	*skill = stored
	for _, tool := range skill.Tools {
		tool.Of = skill
	}
	c.use("s"+key, e)
	return true
}

// KeepSkill implements [scan.Cache].
func (c *cache) KeepSkill(key string, skill *skills.Skill, looks []scan.Look) {
	encoded, settled := encodeLooks(looks, c.now)
	if !settled || skill == nil {
		c.doubt(&c.doubted, looks)
		return
	}
	stored := withoutPlace(skill)
	var long *text
	if len(stored.Instructions) > longText {
		long, stored.Instructions = &text{new: stored.Instructions}, ""
	}
	value, err := encode(stored)
	if err != nil {
		c.store.options.Logger.Debug("a skill is not kept for the next start", "skill", skill.File, "error", err)
		return
	}
	c.add("s"+key, entry{encoded, value, long})
}

// Folder implements [scan.Cache].
func (c *cache) Folder(dir string) ([]fs.DirEntry, bool) {
	e, found := c.entries["f"+dir]
	if !found || !e.current() {
		return nil, false
	}
	r := codec{reading: true, unread: e.value}
	entries := r.folder(nil)
	if r.err != nil {
		return nil, false
	}
	c.use("f"+dir, e)
	return entries, true
}

// KeepFolder implements [scan.Cache].
func (c *cache) KeepFolder(at scan.Look, entries []fs.DirEntry) {
	encoded, settled := encodeLooks([]scan.Look{at}, c.now)
	if !settled {
		c.doubt(&c.opened, []scan.Look{at})
		return
	}
	w := codec{}
	w.folder(entries)
	c.add("f"+at.Path, entry{looks: encoded, value: string(w.written)})
}

func (c *cache) doubt(list *[]string, looks []scan.Look) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range looks {
		*list = append(*list, l.Path)
	}
}

// Changed implements [scan.Cache].
func (c *cache) Changed() (files, folders []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	files, folders = c.doubted, c.opened
	for key, e := range c.used {
		path, current := e.outdated()
		switch {
		case current:
		case key[0] == 's':
			files = append(files, path)
		default:
			folders = append(folders, path)
		}
	}
	c.used = nil
	return files, folders
}

func (c *cache) use(key string, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil {
		c.used = make(map[string]entry, len(c.entries))
	}
	c.used[key] = e
}

func (c *cache) add(key string, e entry) {
	c.use(key, e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added++
}

// Close implements [scan.Cache]. If there are new entries, it saves them and those
// that were asked for, and drops the others.
func (c *cache) Close() {
	c.entries = nil
	if c.added == 0 {
		c.closeFile()
		return
	}
	entries := c.used
	c.used = make(map[string]entry, len(entries)) // without the values, which are large
	for key, e := range entries {
		c.used[key] = entry{looks: e.looks}
	}
	c.store.saving.Go(func() {
		c.store.file.Lock()
		defer c.store.file.Unlock()
		defer c.closeFile()
		if err := writeFile(c.store.path, func(w io.Writer) error { return format(w, entries, c.store.version()) }); err != nil {
			c.store.options.Logger.Warn("the next start reads all skills again: nothing could be kept", "error", err)
		}
	})
}

func (c *cache) closeFile() {
	if c.file != nil {
		c.file.Close() // it was only read
	}
}
