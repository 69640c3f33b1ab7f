package skillshost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Server is one that the person has connected.
type Server struct {
	// Label is the person's name for it, which begins the names of its skills.
	Label   string  `json:"label"`
	Address Address `json:"address"`
	// TokenEnv is the variable that holds the bearer token; "" is none.
	TokenEnv string    `json:"token_env,omitempty"`
	Since    time.Time `json:"since"`
	MAC      []byte    `json:"mac"`
}

// sealed returns the fields that the MAC is of.
func (s *Server) sealed() []string {
	address, _ := json.Marshal(s.Address) // of texts
	return []string{"mcp server", s.Label, string(address), s.TokenEnv, strconv.FormatInt(s.Since.UnixNano(), 10)}
}

// A consent is the person's yes to one version of a skill, with all its files.
type consent struct {
	URI string    `json:"uri"`
	Set string    `json:"set"` // as of [Entry.Set]
	At  time.Time `json:"at"`
	MAC []byte    `json:"mac"`
}

// sealed returns the fields that the MAC is of. A server that is removed, or that has
// another address, takes its consents with it.
func (c *consent) sealed(s *Server) []string {
	return append(s.sealed(), "mcp consent", c.URI, c.Set, strconv.FormatInt(c.At.UnixNano(), 10))
}

// A shelf has the connected servers in a folder that no scan reads: for each a folder with
// its address, its last listing, the consents, and the verified files by digest.
type shelf struct {
	dir    string // absolute host path; need not exist
	key    *seal.Key
	logger *slog.Logger
}

// byPerson names who signs: the person of this machine.
var byPerson = []string{seal.Person}

// The files in the folder of a server.
const (
	serverFile  = "server.json"
	listingFile = "listing.json"
	consentsDir = "consents"
	filesDir    = "files"
)

func (s *shelf) path(label string, parts ...string) string {
	return filepath.Join(append([]string{s.dir, label}, parts...)...)
}

// servers returns the connected servers, by label. One whose file skills-mcp has not
// written does not count.
func (s *shelf) servers() ([]*Server, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []*Server
	for _, entry := range entries {
		if server := s.server(entry.Name()); server != nil {
			all = append(all, server)
		} else {
			s.logger.Warn("a connected server does not count: the person of this configuration has not signed it, or has removed it", "server", entry.Name())
		}
	}
	return all, err
}

// server returns the connected server of a label, or nil.
func (s *shelf) server(label string) *Server {
	server := &Server{}
	if CheckLabel(label) != nil || readJSON(s.path(label, serverFile), maxSmall, server) != nil {
		return nil
	}
	if server.Label != label || !s.key.Signed(byPerson, server.MAC, server.sealed()...) {
		return nil
	}
	return server
}

// add connects a server, with its first listing.
func (s *shelf) add(ctx context.Context, server Server, l *Listing) error {
	if s.server(server.Label) != nil {
		return fmt.Errorf("there is a server %s already", server.Label)
	}
	if err := s.remove(server.Label); err != nil { // a rest
		return err
	}
	server.Since = time.Now()
	var err error
	if server.MAC, err = s.key.Sign(ctx, byPerson, server.sealed()...); err != nil {
		return err
	}
	if err := os.MkdirAll(s.path(server.Label, consentsDir), 0o700); err != nil {
		return err
	}
	if err := s.putListing(server.Label, l); err != nil {
		return err
	}
	return writeJSON(s.path(server.Label, serverFile), server) // last: it counts from now on
}

// remove removes a server with all that was fetched from it.
func (s *shelf) remove(label string) error {
	if err := CheckLabel(label); err != nil {
		return err
	}
	var server Server
	if readJSON(s.path(label, serverFile), maxSmall, &server) == nil { // first: it counts no more
		if err := errors.Join(s.key.Withdraw(server.MAC, time.Time{}), os.Remove(s.path(label, serverFile))); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.path(label))
}

// stored is a listing as it is stored.
type stored struct {
	At     time.Time         `json:"at"`
	TTL    int64             `json:"ttl_ms"`
	Skills []json.RawMessage `json:"skills"`
}

// stamp returns a text that differs once something of the servers has changed.
func (s *shelf) stamp(servers []*Server) string {
	var all strings.Builder
	for _, server := range servers {
		for _, name := range []string{serverFile, listingFile, consentsDir, filesDir} {
			if info, err := os.Stat(s.path(server.Label, name)); err == nil {
				fmt.Fprintln(&all, server.Label, name, info.ModTime().UnixNano(), info.Size())
			}
		}
	}
	return all.String()
}

// putListing stores a listing, and removes the files and consents that it has no use for.
func (s *shelf) putListing(label string, l *Listing) error {
	out := stored{At: time.Now(), TTL: l.TTL.Milliseconds(), Skills: []json.RawMessage{}}
	for _, e := range l.Entries {
		out.Skills = append(out.Skills, e.raw)
	}
	if err := writeJSON(s.path(label, listingFile), out); err != nil {
		return err
	}
	return s.sweep(label, l)
}

// listing returns the stored listing of a server; an empty one if there is none.
func (s *shelf) listing(label string) (*Listing, time.Time) {
	var in stored
	l := &Listing{}
	if readJSON(s.path(label, listingFile), 2*maxListed, &in) != nil {
		return l, time.Time{}
	}
	l.TTL = time.Duration(in.TTL) * time.Millisecond
	if l.add(in.Skills) != nil {
		return &Listing{}, time.Time{}
	}
	return l, in.At
}

// sweepAge is the age of files that are removed with their version: calls of the version
// before may be under way.
const sweepAge = time.Hour

// sweep removes the files and consents of versions that a listing does not have.
func (s *shelf) sweep(label string, l *Listing) error {
	used := map[string]bool{}
	for _, e := range l.Entries {
		used[consentName(e.URI)] = true
		for _, r := range e.Files {
			used[blobName(r.Digest)] = true
		}
	}
	var errs []error
	for _, dir := range []string{filesDir, consentsDir} {
		entries, err := os.ReadDir(s.path(label, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			info, err := entry.Info()
			young := dir == filesDir && err == nil && time.Since(info.ModTime()) < sweepAge
			if !used[entry.Name()] && !young {
				errs = append(errs, os.RemoveAll(s.path(label, dir, entry.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

// consentName returns the name of the file with the consent to a skill.
func consentName(uri string) string {
	sum := sha256.Sum256([]byte(uri))
	return hex.EncodeToString(sum[:]) + ".json"
}

// blobName returns the name of the file with a digest.
func blobName(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// consent records the person's yes to a version of a skill.
func (s *shelf) consent(ctx context.Context, server *Server, uri, set string) error {
	c := consent{URI: uri, Set: set, At: time.Now()}
	var err error
	if c.MAC, err = s.key.Sign(ctx, byPerson, c.sealed(server)...); err != nil {
		return err
	}
	if err := os.MkdirAll(s.path(server.Label, consentsDir), 0o700); err != nil {
		return err
	}
	return writeJSON(s.path(server.Label, consentsDir, consentName(uri)), c)
}

// revoke removes the consent to a skill. It reports whether there was one.
func (s *shelf) revoke(label, uri string) (bool, error) {
	var c consent
	file := s.path(label, consentsDir, consentName(uri))
	if readJSON(file, maxSmall, &c) != nil {
		return false, nil
	}
	err := errors.Join(s.key.Withdraw(c.MAC, time.Time{}), os.Remove(file))
	return err == nil, err
}

// consented reports whether the person has said yes to an entry as it is.
func (s *shelf) consented(server *Server, e *Entry) bool {
	var c consent
	if readJSON(s.path(server.Label, consentsDir, consentName(e.URI)), maxSmall, &c) != nil {
		return false
	}
	return c.URI == e.URI && c.Set == e.Set() && s.key.Signed(byPerson, c.MAC, c.sealed(server)...)
}

// complete reports whether all files of an entry are there, and its frontmatter is that of
// the file: another entry may have had the same files.
func (s *shelf) complete(label string, e *Entry) bool {
	if e.Dynamic {
		return false
	}
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

func readJSON(file string, limit int64, into any) error {
	data, err := skillfs.ReadHost(file, limit)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func writeJSON(file string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, data)
}
