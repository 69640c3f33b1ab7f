// Package cache keeps what was read of skills in a file, so that the next
// start reads only what has changed since. Start with [New].
//
// What is kept counts for as long as every file that was looked at for it has the
// same device, inode, size, mode and times (on systems other than Linux: size,
// mode and time of change). A file that changed within the last two seconds is
// not kept: it could change again without a trace. A cache that is damaged, of
// another version or too large is as good as none; where long instructions alone
// are damaged, whoever asks for them is told. Nothing of it is executed: what runs
// is read from the skill's folder at each call.
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
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// Options configure a [Store].
type Options struct {
	// Version tells programs apart that read files otherwise, or to other ends:
	// what one kept is nothing to the other.
	Version string
	// Logger is told why nothing could be kept; nil discards it.
	Logger *slog.Logger
}

// A Store is a file of what was read.
type Store struct {
	path    string
	options Options
	saving  sync.WaitGroup // goroutines that save
	file    sync.Mutex     // held while one saves
}

// New returns the store in a file, whose folder it makes when there is something to
// keep. The folder has nothing but caches: the newest 16 of them stay. Nothing is read
// before [Store.Open]. Options may be nil.
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

// Wait waits until what closed caches learnt is saved.
func (s *Store) Wait() { s.saving.Wait() }

// Open reads the file, for one scan. What it learns is saved in the background
// once it is closed.
func (s *Store) Open() scan.Cache {
	c := &cache{store: s, skills: map[string]entry{}, folders: map[string]entry{}, now: time.Now()}
	file, size, err := openFile(s.path)
	if err != nil {
		return c
	}
	if err := c.parse(file, size, s.version()); err != nil {
		c.skills, c.folders = map[string]entry{}, map[string]entry{}
		file.Close() // nothing refers to it
		return c
	}
	if !lazy {
		c.file = file
	}
	return c
}

func (s *Store) version() string {
	return s.options.Version + " " + layout(reflect.TypeFor[skills.Skill]()) + layout(reflect.TypeFor[skills.Input]()) + layout(reflect.TypeFor[skills.ParsedCLI]())
}

// A cache is the content of a file, and what was learnt since.
type cache struct {
	store *Store
	now   time.Time // when it was opened
	file  *os.File  // closed by Close; nil where skills have it still, and it is closed after the last of them

	// Those of the file are not changed.
	skills, folders map[string]entry // by key, and by path

	mu      sync.Mutex
	used    map[string]entry // what was of use or learnt, by "s" + key or "f" + path
	learnt  int
	doubted []string // files that could change without a trace
	opened  []string // and folders
}

// An entry is one thing that is kept. The strings are parts of the file's text.
type entry struct {
	looks string // what was looked at
	value string
	text  *text // long instructions; nil where they are part of the value
}

// kept is a skill, with its tools, without its place, which is part of the key.
// Of a package the key does not say where in it the skill's file is.
func kept(s *skills.Skill) skills.Skill {
	c := *s
	c.Files, c.Source, c.PluginDir, c.Plugin, c.Workspace, c.Of, c.Stored = nil, "", "", "", "", nil, nil
	if c.Dir != "" {
		c.Dir, c.File = "", ""
	}
	c.Tools = slices.Clone(s.Tools)
	for i, tool := range c.Tools {
		without := kept(tool)
		without.File = tool.File // it may be another than the skill's
		c.Tools[i] = &without
	}
	return c
}

// place puts a skill and its tools where at is.
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
	e, found := c.skills[key]
	if !found || !e.current() {
		return false
	}
	var known skills.Skill
	r := reader{rest: e.value}
	if r.value(reflect.ValueOf(&known).Elem(), 0); r.broken {
		return false
	}
	if e.text != nil && !e.text.fill(&known) {
		return false
	}
	place(&known, skill)
	*skill = known
	for _, tool := range skill.Tools {
		tool.Of = skill
	}
	c.use("s"+key, e)
	return true
}

// KeepSkill implements [scan.Cache].
func (c *cache) KeepSkill(key string, skill *skills.Skill, looks []scan.Look) {
	written, settled := c.write(looks)
	if !settled || skill == nil {
		c.doubt(&c.doubted, looks)
		return
	}
	copied := kept(skill)
	var long *text
	if len(copied.Instructions) > longText {
		long, copied.Instructions = &text{new: copied.Instructions}, ""
	}
	value, err := appendValue(nil, reflect.ValueOf(copied), 0)
	if err != nil {
		c.store.options.Logger.Debug("a skill is not kept for the next start", "skill", skill.File, "error", err)
		return
	}
	c.learn("s"+key, entry{written, string(value), long})
}

// Folder implements [scan.Cache].
func (c *cache) Folder(dir string) ([]fs.DirEntry, bool) {
	e, found := c.folders[dir]
	if !found || !e.current() {
		return nil, false
	}
	r := reader{rest: e.value}
	n, _ := r.length()
	entries := make([]fs.DirEntry, 0, min(n, firstRoom))
	for i := 0; i < n && !r.broken; i++ {
		entries = append(entries, dirEntry{r.string(), fs.FileMode(r.uint())})
	}
	if r.broken {
		return nil, false
	}
	c.use("f"+dir, e)
	return entries, true
}

// KeepFolder implements [scan.Cache].
func (c *cache) KeepFolder(at scan.Look, entries []fs.DirEntry) {
	written, settled := c.write([]scan.Look{at})
	if !settled {
		c.doubt(&c.opened, []scan.Look{at})
		return
	}
	value := appendUint(nil, uint64(len(entries))+1)
	for _, e := range entries {
		value = appendUint(appendString(value, e.Name()), uint64(e.Type()))
	}
	c.learn("f"+at.Path, entry{looks: written, value: string(value)})
}

// dirEntry is the name and type of an entry that was there.
type dirEntry struct {
	name string
	mode fs.FileMode
}

func (e dirEntry) Name() string               { return e.name }
func (e dirEntry) IsDir() bool                { return e.mode.IsDir() }
func (e dirEntry) Type() fs.FileMode          { return e.mode }
func (e dirEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// write writes what was looked at, and reports whether all of it had settled.
func (c *cache) write(looks []scan.Look) (written string, settled bool) {
	b := appendUint(nil, uint64(len(looks)))
	for _, l := range looks {
		var s stamp.Stamp
		if l.Info != nil {
			s = stamp.Of(l.Info)
		}
		if !s.Settled(c.now) {
			return "", false
		}
		b = appendStamp(appendString(b, l.Path), s)
	}
	return string(b), true
}

func (c *cache) doubt(list *[]string, looks []scan.Look) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range looks {
		*list = append(*list, l.Path)
	}
}

// current reports whether all that was looked at is as it was.
func (e entry) current() bool {
	_, current := e.outdated()
	return current
}

// outdated returns the first path that is not as it was, if one is not.
func (e entry) outdated() (path string, current bool) {
	r := reader{rest: e.looks}
	for range r.uint() {
		path, was := r.string(), r.stamp()
		if r.broken {
			return "", false
		}
		is, err := stamp.Look(path)
		if err != nil && !missing(err) || is != was {
			return path, false
		}
	}
	return "", !r.broken
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
		c.used = make(map[string]entry, len(c.skills)+len(c.folders))
	}
	c.used[key] = e
}

func (c *cache) learn(key string, e entry) {
	c.use(key, e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learnt++
}

// Close implements [scan.Cache]: it saves what was of use and what was learnt,
// if anything was, and forgets the rest.
func (c *cache) Close() {
	c.skills, c.folders = nil, nil
	if c.learnt == 0 {
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
