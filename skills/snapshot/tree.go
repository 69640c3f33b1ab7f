package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// Limits of one skill's folder. [Store.Take] fails on a larger one.
const (
	maxFiles = 20_000
	maxBytes = 256 << 20
)

// A tree lists the folder itself and the entries to copy, sorted, each after its
// parent.
type tree []entry

type entry struct {
	name   string // "." for the folder itself
	kind   byte   // one of the below
	target string // of a link
	// stamp is that of the entry before it was read.
	stamp stamp.Stamp
	// certain reports that the entry has not changed while it has this stamp.
	certain bool

	sum  [sha256.Size]byte // of a file's content
	read bool              // sum is set
}

const (
	folder     = 'd'
	file       = 'f'
	executable = 'x'
	link       = 'l'
)

func (e *entry) isFile() bool { return e.kind == file || e.kind == executable }

// content returns the entry's contribution to the digest: the target of a link, the
// hash of a file.
func (e *entry) content() string {
	if e.isFile() {
		return hex.EncodeToString(e.sum[:])
	}
	return e.target
}

// digest returns the digest of a tree whose files were read.
func (t tree) digest() string {
	all, line := sha256.New(), []byte(nil)
	for i := range t {
		if e := &t[i]; e.name != "." {
			line = append(line[:0], e.kind, ' ')
			line = append(appendText(line, e.name), ' ')
			line = append(appendText(line, e.content()), '\n')
			all.Write(line)
		}
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil))
}

// appendText appends the length of a text and the text, so that none imitates another
// field.
func appendText(line []byte, text string) []byte {
	return append(append(strconv.AppendInt(line, int64(len(text)), 10), ':'), text...)
}

// unchanged reports whether all entries of t have their stamps in a folder.
func (t tree) unchanged(in *stamp.Folder) bool {
	for i := range t {
		if found, err := in.Look(t[i].name); err != nil || found != t[i].stamp {
			return false
		}
	}
	return true
}

// certain reports whether unchanged stamps mean unchanged entries.
func (t tree) certain() bool {
	for i := range t {
		if !t[i].certain {
			return false
		}
	}
	return true
}
