package skillsext

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// maxKnown is the number of cached digests.
const maxKnown = 1 << 16

// Digests is a cache of digests of unchanged files. The zero value is ready for use, also
// concurrently.
type Digests struct {
	mu    sync.Mutex
	known map[place]known
}

// place is the key of a file of the host.
type place struct{ dir, name string }

// known is a file's digest and size, with its stamp at that time.
type known struct {
	stamp  stamp.Stamp
	digest string
	size   int64
}

// A Resource is a file of a skill.
type Resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes
}

// resource returns the description of content.
func resource(uri string, data []byte) Resource {
	sum := sha256.Sum256(data)
	return Resource{uri, "sha256:" + hex.EncodeToString(sum[:]), int64(len(data))}
}

// of returns the description of a file. info is its current state.
func (d *Digests) of(skill *skills.Skill, files fs.FS, name string, info fs.FileInfo) (Resource, error) {
	uri, at := at(skill, name), place{skill.Dir, name}
	if k, ok := d.get(at); ok && k.stamp == stamp.Of(info) {
		return Resource{uri, k.digest, k.size}, nil
	}
	k, err := read(files, name)
	if err != nil {
		return Resource{}, err
	}
	// Files in a package or in this program have no stamp, or none that changes
	// with them.
	if skill.Dir != "" && k.stamp != (stamp.Stamp{}) {
		d.put(at, k)
	}
	return Resource{uri, k.digest, k.size}, nil
}

// read hashes a file. The stamp is zero if the file may have changed meanwhile.
func read(files fs.FS, name string) (known, error) {
	file, err := skillfs.OpenRegular(files, name)
	if err != nil {
		return known{}, err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return known{}, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(file, maxBytes+1))
	if err != nil {
		return known{}, err
	}
	if size > maxBytes {
		return known{}, fmt.Errorf("read %s: %w", name, skillfs.ErrTooLarge)
	}
	k := known{digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), size: size}
	after, err := file.Stat()
	if s := stamp.Of(before); err == nil && s == stamp.Of(after) && s.Settled(time.Now()) {
		k.stamp = s
	}
	return k, nil
}

func (d *Digests) get(at place) (known, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.known[at]
	return k, ok
}

func (d *Digests) put(at place, k known) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= maxKnown {
		d.known = map[place]known{} // those in use come back
	}
	d.known[at] = k
}
