package skillshost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Server is one that the person has connected, and signed for.
type Server struct {
	// Label is the person's name for it, which begins the names of its skills.
	Label   string  `json:"label"`
	Address Address `json:"address"`
	// TokenEnv is the variable that holds the bearer token; "" is none.
	TokenEnv string    `json:"token_env,omitempty"`
	Since    time.Time `json:"since"`
}

// A consent is the person's yes to one version of a skill, with all its files. A server
// that is removed, or that has another address, takes its consents with it.
type consent struct {
	Server Server `json:"server"`
	URI    string `json:"uri"`
	Set    string `json:"set"` // as of [Entry.Set]
}

// A shelf has the connected servers: the person's decisions in the store, and a folder that
// no scan reads, which has for each server its last listing, and the verified files by
// digest.
type shelf struct {
	dir               string // absolute host path; need not exist
	store             *store.Store
	decided, consents *seal.Table
	logger            *slog.Logger
}

func newShelf(dir string, s *store.Store, key *seal.Key, logger *slog.Logger) shelf {
	o := &seal.Options{Signers: []string{seal.Person}, Logger: logger}
	return shelf{dir, s, seal.NewTable("mcp server", s, key, o), seal.NewTable("mcp consent", s, key, o), logger}
}

// The files in the folder of a server.
const (
	listingFile = "listing.json"
	filesDir    = "files"
)

func (s *shelf) path(label string, parts ...string) string {
	return filepath.Join(append([]string{s.dir, label}, parts...)...)
}

// servers returns the connected servers, by label.
func (s *shelf) servers(ctx context.Context) (all []*Server, err error) {
	if _, err := os.Stat(s.dir); err != nil { // for most, and fast
		return nil, nil
	}
	rows, err := s.decided.List(ctx, store.DecisionFilter{})
	for _, row := range rows {
		if server := decodeServer(&row); server != nil {
			all = append(all, server)
		}
	}
	slices.SortFunc(all, func(a, b *Server) int { return strings.Compare(a.Label, b.Label) })
	return all, err
}

// server returns the connected server of a label, or nil.
func (s *shelf) server(ctx context.Context, label string) *Server {
	row, err := s.decided.Get(ctx, label)
	if err != nil || row == nil {
		return nil
	}
	return decodeServer(row)
}

// decodeServer returns the server of a row; nil if the person has signed another one.
func decodeServer(row *store.Decision) *Server {
	server := &Server{}
	if json.Unmarshal(row.Body, server) != nil || server.Label != row.Key || CheckLabel(server.Label) != nil {
		return nil
	}
	return server
}

// add connects a server, with its first listing.
func (s *shelf) add(ctx context.Context, server Server, l *Listing) error {
	if s.server(ctx, server.Label) != nil {
		return fmt.Errorf("there is a server %s already", server.Label)
	}
	if err := s.remove(ctx, server.Label); err != nil { // a rest
		return err
	}
	server.Since = time.Now()
	row, err := s.decided.New(ctx, server)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.path(server.Label), 0o700); err != nil {
		return err
	}
	if err := s.putListing(server.Label, l); err != nil {
		return err
	}
	return s.decided.Change(ctx, store.Announced, server.Label, func(*store.Decision) (*store.Decision, error) { return row, nil })
}

// remove removes a server with all that was fetched from it. It counts no more first.
func (s *shelf) remove(ctx context.Context, label string) error {
	if err := CheckLabel(label); err != nil {
		return err
	}
	if _, err := s.decided.Remove(ctx, label); err != nil {
		return err
	}
	consents, err := s.store.Decisions(ctx, "mcp consent", store.DecisionFilter{About: label})
	for _, row := range consents {
		_, failed := s.consents.Remove(ctx, row.Key)
		err = errors.Join(err, failed)
	}
	return errors.Join(err, os.RemoveAll(s.path(label)))
}

// stored is a listing as it is stored.
type stored struct {
	Skills []json.RawMessage `json:"skills"`
}

// stamp returns a text that differs once something of the servers has changed.
func (s *shelf) stamp(ctx context.Context, servers []*Server) string {
	var all strings.Builder
	generation, _ := s.store.Generation(ctx) // 0 is a number as well
	fmt.Fprintln(&all, generation)
	for _, server := range servers {
		for _, name := range []string{listingFile, filesDir} {
			if info, err := os.Stat(s.path(server.Label, name)); err == nil {
				fmt.Fprintln(&all, server.Label, name, info.ModTime().UnixNano(), info.Size())
			}
		}
	}
	return all.String()
}

// putListing stores a listing, and removes the files that it has no use for.
func (s *shelf) putListing(label string, l *Listing) error {
	var out stored
	for _, e := range l.Entries {
		out.Skills = append(out.Skills, e.raw)
	}
	data, err := json.Marshal(out)
	if err == nil {
		err = atomicfile.WriteBytes(s.path(label, listingFile), data)
	}
	if err != nil {
		return err
	}
	return s.sweep(label, l)
}

// listing returns the stored listing of a server; an empty one if there is none.
func (s *shelf) listing(label string) *Listing {
	l, in := &Listing{}, stored{}
	data, err := skillfs.ReadHost(s.path(label, listingFile), 2*maxListed)
	if err != nil || json.Unmarshal(data, &in) != nil || l.add(in.Skills) != nil {
		return &Listing{}
	}
	return l
}

// sweepAge is the age of files that are removed with their version: calls of the version
// before may be under way.
const sweepAge = time.Hour

// sweep removes the files of versions that a listing does not have.
func (s *shelf) sweep(label string, l *Listing) error {
	used := map[string]bool{}
	for _, e := range l.Entries {
		for _, r := range e.Files {
			used[blobName(r.Digest)] = true
		}
	}
	entries, err := os.ReadDir(s.path(label, filesDir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, entry := range entries {
		info, failed := entry.Info()
		young := failed == nil && time.Since(info.ModTime()) < sweepAge
		if !used[entry.Name()] && !young {
			err = errors.Join(err, os.Remove(s.path(label, filesDir, entry.Name())))
		}
	}
	return err
}

// blobName returns the name of the file with a digest.
func blobName(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// consentKey returns the key of the consent to a skill.
func consentKey(label, uri string) string { return label + " " + uri }

// consent records the person's yes to a version of a skill.
func (s *shelf) consent(ctx context.Context, server *Server, uri, set string) error {
	row, err := s.consents.New(ctx, consent{*server, uri, set})
	if err != nil {
		return err
	}
	row.About = server.Label
	return s.consents.Change(ctx, store.Announced, consentKey(server.Label, uri), func(*store.Decision) (*store.Decision, error) { return row, nil })
}

// consented reports whether the person has said yes to an entry as it is.
func (s *shelf) consented(server *Server, e *Entry) bool {
	row, err := s.consents.Get(context.Background(), consentKey(server.Label, e.URI))
	if err != nil || row == nil {
		return false
	}
	var c consent
	err = json.Unmarshal(row.Body, &c)
	return err == nil && sameJSON(c.Server, server) && c.URI == e.URI && c.Set == e.Set()
}

// complete reports whether all files of an entry are there, and its frontmatter is that of
// the file: another entry may have had the same files.
func (s *shelf) complete(label string, e *Entry) bool {
	data, err := s.blob(label, e.file(skillFile))
	if err != nil || e.checkFrontmatter(data) != nil {
		return false
	}
	return !slices.ContainsFunc(e.Files, func(r Resource) bool {
		info, err := os.Lstat(s.path(label, filesDir, blobName(r.Digest)))
		return err != nil || !info.Mode().IsRegular() || info.Size() != r.Size
	})
}

// blob returns the content of a file, which is verified again.
func (s *shelf) blob(label string, r *Resource) ([]byte, error) {
	data, err := skillfs.ReadHost(s.path(label, filesDir, blobName(r.Digest)), maxBytes)
	if err != nil {
		return nil, err
	}
	return data, r.verify(data)
}

// fetch gets the files of an entry that are not there.
func (s *shelf) fetch(ctx context.Context, session *Session, label string, e *Entry) error {
	dir := s.path(label, filesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return session.Fetch(ctx, e, func(r Resource, data []byte) error {
		return atomicfile.WriteBytes(filepath.Join(dir, blobName(r.Digest)), data)
	})
}
