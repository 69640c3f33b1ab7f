package adopt

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // the hash of Git objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// edited is the usual reason why a recorded hash is another.
const edited = "the files are others now; they were edited, or the tool left some out"

// folderHash is the computedHash of the skills tool: SHA-256 over path and content of
// each file in the order of localeCompare, without links and modes.
func folderHash(ctx context.Context, files skillfs.Dir, states map[string]lock.FileState) (string, error) {
	sum := sha256.New()
	for _, name := range regular(states, compareNames, func(part string) bool { return part == "node_modules" }) {
		_, _ = io.WriteString(sum, name)
		if err := copyFile(ctx, sum, files, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// fingerprint is that of ClawHub: SHA-256 over the lines path:sha256 of each file outside
// of hidden folders, in the order of localeCompare.
func fingerprint(states map[string]lock.FileState) string {
	var lines []string
	for _, name := range regular(states, compareNames, func(part string) bool { return part == "node_modules" || strings.HasPrefix(part, ".") }) {
		lines = append(lines, name+":"+strings.TrimPrefix(states[name].Digest, "sha256:"))
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// contentDigest is that of ToolHive: SHA-256 over path, NUL, the 32 bytes of the content's
// SHA-256 and a newline of each file, in the order of bytes.
func contentDigest(states map[string]lock.FileState) string {
	sum := sha256.New()
	for _, name := range regular(states, strings.Compare, func(string) bool { return false }) {
		content, _ := hex.DecodeString(strings.TrimPrefix(states[name].Digest, "sha256:"))
		_, _ = fmt.Fprintf(sum, "%s\x00%s\n", name, content)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// regular returns the files that are no links, in an order, without those that have a
// part of their path to skip.
func regular(states map[string]lock.FileState, compare func(a, b string) int, skip func(part string) bool) []string {
	names := slices.Collect(maps.Keys(states))
	names = slices.DeleteFunc(names, func(name string) bool {
		return states[name].Digest == "" || slices.ContainsFunc(strings.Split(name, "/"), skip)
	})
	slices.SortFunc(names, compare)
	return names
}

func copyFile(ctx context.Context, to io.Writer, files skillfs.Dir, name string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	file, err := skillfs.OpenRegular(files, name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, io.LimitReader(file, maxFile))
	return err
}

// maxFile bounds the bytes that are read of a file: package lock accepts no larger one.
const maxFile = 256 << 20

// order are the characters of ASCII in the order of the root collation (CLDR), which
// localeCompare of JavaScript has without a language; a letter in both cases is one place.
const order = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"

// compareNames compares as localeCompare does: first without case, then lower case first.
// Names with characters beyond ASCII come in the order of bytes, which ICU does not have:
// the hash of such a folder differs. The whole collation would add 1 MB to the program.
func compareNames(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(place(a[i]), place(b[i])); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return strings.Compare(b, a)
}

func place(c byte) int {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	if at := strings.IndexByte(order, c); at >= 0 {
		return at
	}
	return len(order) + int(c)
}

// gitTree returns the id of the Git tree that a folder is, of SHA-1 or, for an id of 64
// digits, of SHA-256. Replaced are contents other than on the disk; executable says which
// files may be executed.
func gitTree(ctx context.Context, files skillfs.Dir, states map[string]lock.FileState, id string, replaced map[string][]byte, executable func(name string) bool) (string, error) {
	t := &tree{sums: sha1.New, entries: map[string][]treeEntry{}}
	if len(id) == 64 {
		t.sums = sha256.New
	}
	for name, state := range states {
		sum := t.sums()
		content, isReplaced := replaced[name]
		size := state.Size
		if state.Digest == "" {
			content, isReplaced = []byte(state.Link), true
		}
		if isReplaced {
			size = int64(len(content))
		}
		_, _ = fmt.Fprintf(sum, "blob %d\x00", size)
		if isReplaced {
			_, _ = sum.Write(content)
		} else if err := copyFile(ctx, sum, files, name); err != nil {
			return "", err
		}
		mode := "100644"
		switch {
		case state.Digest == "":
			mode = "120000"
		case executable(name):
			mode = "100755"
		}
		t.add(name, mode, sum.Sum(nil))
	}
	return hex.EncodeToString(t.sum(".")), nil
}

// A tree is a Git tree that is being computed.
type tree struct {
	sums    func() hash.Hash
	entries map[string][]treeEntry // by folder
}

type treeEntry struct {
	mode, name string
	id         []byte // nil of a folder
}

// add adds a file, and its folders.
func (t *tree) add(name, mode string, id []byte) {
	dir := path.Dir(name)
	_, known := t.entries[dir]
	t.entries[dir] = append(t.entries[dir], treeEntry{mode, path.Base(name), id})
	if !known && dir != "." {
		t.add(dir, "40000", nil)
	}
}

// sum returns the id of a folder. Git sorts a folder as if its name ended in a slash.
func (t *tree) sum(dir string) []byte {
	key := func(e treeEntry) string {
		if e.id == nil {
			return e.name + "/"
		}
		return e.name
	}
	entries := t.entries[dir]
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(key(a), key(b)) })
	var content []byte
	for _, e := range entries {
		id := e.id
		if id == nil {
			id = t.sum(path.Join(dir, e.name))
		}
		content = append(fmt.Appendf(content, "%s %s\x00", e.mode, e.name), id...)
	}
	sum := t.sums()
	_, _ = fmt.Fprintf(sum, "tree %d\x00", len(content))
	_, _ = sum.Write(content)
	return sum.Sum(nil)
}
