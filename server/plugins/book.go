// Package plugins runs the MCP servers of plugins in sandboxes. Each is a skill of the
// catalog, and its tools are that skill's tools: see [Book.Expand]. [Servers] makes their
// calls, each server in one sandbox that lasts from its first call until it is idle.
//
// Start with [NewBook], and [New].
package plugins

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/plugins/conduit"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// A Book keeps, for the servers of plugins, the tools that they have listed and the reason
// for which one has failed, in a folder that other processes share. It may be used
// concurrently.
type Book struct {
	dir     string
	code    *conduit.Settings
	changed func(context.Context)

	mu   sync.Mutex // guards the last expansion
	last expansion
}

// NewBook returns the book in dir, an absolute path, which is made when it is needed. code
// says what is configured for the code of plugins. It calls changed when a server has other
// tools than before, or has failed.
func NewBook(dir string, code *conduit.Settings, changed func(context.Context)) *Book {
	return &Book{dir: dir, code: code, changed: changed}
}

// An expansion is the last result of [Book.Expand].
type expansion struct {
	before, after *skills.Catalog
	state         [sha256.Size]byte // of all listings
}

// Expand returns the catalog with a skill PLUGIN/SERVER for each MCP server of a plugin. Its
// tools are the server's, as it has listed them. Before it has, a call of the skill starts the
// server, which lists them. The hooks of a plugin are the tools of a skill PLUGIN/hooks. It
// returns the same result for the same catalog until a listing
// changes.
func (b *Book) Expand(catalog *skills.Catalog) *skills.Catalog {
	b.mu.Lock()
	defer b.mu.Unlock()
	var owners []*skills.Skill
	for _, p := range catalog.Plugins {
		if p.Dir != "" && len(p.Hooks) > 0 {
			owners = append(owners, newHooks(p))
		}
		for _, server := range p.Servers {
			if p.Dir != "" {
				owners = append(owners, newOwner(p, server, b.code))
			}
		}
	}
	if len(owners) == 0 {
		return catalog
	}
	sum := sha256.New()
	listings := make([]listing, len(owners))
	for i, owner := range owners {
		l, text := b.read(owner)
		listings[i] = l
		fmt.Fprintf(sum, "%d\n%s", len(text), text)
	}
	state := [sha256.Size]byte(sum.Sum(nil))
	if b.last.before == catalog && b.last.state == state {
		return b.last.after
	}
	next := *catalog
	next.Skills, next.Problems = slices.Clone(catalog.Skills), slices.Clone(catalog.Problems)
	taken := map[string]*skills.Skill{}
	for _, skill := range catalog.Skills {
		taken[skill.QualifiedName()] = skill
	}
	for _, owner := range owners { // before their tools
		if other := taken[owner.QualifiedName()]; other != nil {
			problem := skills.Problem{Severity: skills.Warning, Path: owner.File, Message: fmt.Sprintf("%s is left out: %s has its name", owner.QualifiedName(), other.File), Remedy: "rename one of them"}
			next.Problems = append(next.Problems, problem)
			continue
		}
		taken[owner.QualifiedName()] = owner
	}
	for i, owner := range owners {
		if taken[owner.QualifiedName()] != owner {
			continue
		}
		addFault(owner, &listings[i])
		addTools(owner, &listings[i], taken)
		next.Skills = append(append(next.Skills, owner), owner.Tools...)
		next.Problems = append(next.Problems, owner.Problems...)
	}
	slices.SortStableFunc(next.Skills, func(a, b *skills.Skill) int { return cmp.Compare(a.QualifiedName(), b.QualifiedName()) })
	slices.SortStableFunc(next.Problems, func(a, b skills.Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	b.last = expansion{catalog, &next, state}
	return &next
}

// file returns the file of a server. One that is declared anew has another.
func (b *Book) file(owner *skills.Skill) string {
	var server skills.MCPServer
	if owner.Entry != nil {
		server = owner.Entry.Server.Server
	}
	text := fmt.Appendf(nil, "%q %q %q %q %q", owner.Dir, owner.QualifiedName(), server.Argv, server.Dir, server.Address)
	sum := sha256.Sum256(text)
	return filepath.Join(b.dir, hex.EncodeToString(sum[:16])+".json")
}

// read returns the listing of a server, and its text; a file that is damaged says nothing.
func (b *Book) read(owner *skills.Skill) (l listing, text []byte) {
	info, err := os.Stat(b.file(owner))
	if err != nil || info.Size() > 2*maxListing {
		return l, nil
	}
	if text, err = os.ReadFile(b.file(owner)); err != nil || json.Unmarshal(text, &l) != nil {
		return listing{}, nil
	}
	return l, text
}

// write keeps the listing of a server, and tells of one that is new. A nil book does nothing.
func (b *Book) write(ctx context.Context, owner *skills.Skill, change func(*listing)) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	l, before := b.read(owner)
	change(&l)
	text, err := json.Marshal(&l)
	if err = cmp.Or(err, os.MkdirAll(b.dir, 0o700)); err == nil { // also the same again, so that it does not expire
		err = atomicfile.WriteBytes(b.file(owner), text)
	}
	b.expire()
	b.mu.Unlock()
	if err == nil && !bytes.Equal(text, before) {
		b.changed(ctx)
	}
	return err
}

// maxAge is the time after its last start for which the listing of a server is kept.
const maxAge = 90 * 24 * time.Hour

// expire removes the listings of servers that have not started for long: most of them have
// been removed.
func (b *Book) expire() {
	files, _ := os.ReadDir(b.dir)
	for _, file := range files {
		if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(b.dir, file.Name()))
		}
	}
}

// fail keeps the reason for which a server has failed. A reason that is kept already is not
// written again.
func (b *Book) fail(ctx context.Context, owner *skills.Skill, why string) {
	_ = b.write(ctx, owner, func(l *listing) { // it is in the answer to the call, too
		if l.Fault != why {
			l.Fault, l.At = why, time.Now().UTC().Truncate(time.Second)
		}
	})
}

// Skipped keeps why one of the hooks of a skill was skipped.
func (b *Book) Skipped(ctx context.Context, owner *skills.Skill, why string) {
	_ = b.write(ctx, owner, func(l *listing) { l.Fault, l.At = why, time.Now().UTC().Truncate(time.Second) }) // it is in the log, too
}
