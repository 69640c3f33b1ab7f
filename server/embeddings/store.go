package embeddings

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
)

// A store caches the vectors of passages: the last ones in memory, and all as files. It
// ignores a file that it cannot read or write.
type store struct {
	last *recent
	dir  string // "" is none
	salt string // the model and its endpoint
}

const (
	// maxStored bounds the files of one of the 256 folders of a store, about 30,000 of
	// all: above it, the folder is emptied.
	maxStored = 120
	// maxQueries and maxPassages bound the vectors in memory. A query repeats for its
	// next page.
	maxQueries, maxPassages = 32, 512
)

// file returns the path for a passage.
func (s *store) file(passage string) string {
	digest := sha256.Sum256([]byte(s.salt + "\x00" + passage))
	name := hex.EncodeToString(digest[:])
	return filepath.Join(s.dir, name[:2], name[2:40])
}

// vector returns the vector of a passage, or nil.
func (s *store) vector(passage string) []float32 {
	if vector := s.last.vector(passage); vector != nil || s.dir == "" {
		return vector
	}
	name := s.file(passage)
	if info, err := os.Stat(name); err != nil || info.Size() > 4*maxDimensions {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	vector := decode(data)
	if vector != nil {
		s.last.add(passage, vector)
	}
	return vector
}

func (s *store) add(passage string, vector []float32) {
	s.last.add(passage, vector)
	if s.dir == "" {
		return
	}
	name := s.file(passage)
	s.trim(filepath.Dir(name))
	_ = atomicfile.WriteBytes(name, encode(vector))
}

func (s *store) remove(passage string) {
	s.last.remove(passage)
	if s.dir != "" {
		_ = os.Remove(s.file(passage))
	}
}

// trim empties a folder that is full.
func (s *store) trim(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxStored {
		return
	}
	for _, entry := range entries {
		_ = os.Remove(filepath.Join(dir, entry.Name()))
	}
}

// recent holds the vectors of the last texts.
type recent struct {
	most int

	mu      sync.Mutex // guards what follows
	vectors map[string][]float32
	order   []string // oldest first
}

func newRecent(most int) *recent { return &recent{most: most, vectors: map[string][]float32{}} }

func (r *recent) vector(text string) []float32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.vectors[text]
}

func (r *recent) add(text string, vector []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.vectors[text] == nil {
		r.order = append(r.order, text)
	}
	r.vectors[text] = vector
	if len(r.order) > r.most {
		delete(r.vectors, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
}

func (r *recent) remove(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.vectors, text)
	r.order = slices.DeleteFunc(r.order, func(other string) bool { return other == text })
}
