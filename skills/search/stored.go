package search

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A stored index is a segment, whose documents have keys in place of their skills. The
// ranking is no part of it, so that weights may change; how a text is split into terms
// is the same in one build of the program, and only that reads it: see [Cache].

// keyLength is the length of the key of a document.
const keyLength = 16

// keyOf returns the key of a skill's document: equal keys have equal documents.
func keyOf(s *skills.Skill) string {
	h := sha256.New()
	add := func(text string) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		_, _ = h.Write([]byte(text))
	}
	add(s.QualifiedName())
	if s.Revision == "" || s.Blocked != "" { // of no file, or other texts than those of its files
		add(s.DisplayName)
		for _, texts := range newDocument(s).texts {
			add(strings.Join(texts, "\x00"))
		}
	} else {
		add(s.Revision)
		for _, of := range append([]*skills.Skill{s}, s.Tools...) { // a configuration may change it
			if of.ModelInvocable {
				add("model")
			} else {
				add("person")
			}
		}
	}
	return string(h.Sum(nil)[:keyLength])
}

// encode returns the segment as a string.
func (s *segment) encode() string {
	b := binary.AppendUvarint(nil, uint64(len(s.docs)))
	for _, d := range s.docs {
		b = append(b, keyOf(d.skill)...)
		b = binary.AppendUvarint(b, uint64(len(d.names)))
		for _, name := range d.names {
			b = appendString(b, name)
		}
		for _, length := range d.lengths {
			b = binary.AppendUvarint(b, uint64(length))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.terms)))
	for i, term := range s.terms {
		b = appendString(b, term)
		b = binary.AppendUvarint(b, uint64(s.holders[i]))
		b = binary.AppendUvarint(b, uint64(len(s.list(i))))
	}
	return string(append(b, s.postings...))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// restore returns the snapshot of a stored index: with the skills of the catalog that it
// has documents of, and a skill that is in no catalog for each of the others. It is empty
// where the index is damaged.
func restore(stored string, catalog *skills.Catalog) *snapshot {
	r := reader{rest: stored}
	s, keys := r.segment()
	if r.damaged || !s.sound() {
		return &snapshot{&skills.Catalog{}, &segment{}}
	}
	byKey := make(map[string]*skills.Skill, len(catalog.Skills))
	for _, skill := range catalog.Skills {
		byKey[keyOf(skill)] = skill
	}
	known := &skills.Catalog{}
	for i, key := range keys {
		skill := byKey[key]
		if skill == nil {
			skill = &skills.Skill{}
		}
		delete(byKey, key)
		s.docs[i].skill = skill
		known.Skills = append(known.Skills, skill)
	}
	return &snapshot{known, s}
}

// A reader reads what encode wrote. Once the input is damaged it reads zeros.
type reader struct {
	rest    string
	damaged bool
}

func (r *reader) take(n uint64) string {
	if r.damaged = r.damaged || n > uint64(len(r.rest)); r.damaged {
		return ""
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) number() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.take(1)
		if b == "" {
			return 0
		}
		n |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return n
		}
	}
	r.damaged = true
	return 0
}

// count returns the number of items that follow. Each takes a byte at least.
func (r *reader) count() int {
	n := r.number()
	if r.damaged = r.damaged || n > uint64(len(r.rest)); r.damaged {
		return 0
	}
	return int(n)
}

// segment returns a segment and the keys of its documents.
func (r *reader) segment() (s *segment, keys []string) {
	s = &segment{}
	for range r.count() {
		keys = append(keys, r.take(keyLength))
		var d doc
		for range r.count() {
			d.names = append(d.names, strings.Clone(r.take(r.number())))
		}
		for f := range d.lengths {
			d.lengths[f] = uint16(r.number())
		}
		s.docs = append(s.docs, d)
	}
	r.terms(s)
	return s, keys
}

// terms reads the terms, which become parts of one string, and their postings.
func (r *reader) terms(s *segment) {
	n := r.count()
	s.terms, s.holders, s.starts = make(dictionary, n), make([]uint32, n), make([]uint32, n+1)
	var all strings.Builder
	ends, total := make([]int, n), uint64(0)
	for i := range n {
		all.WriteString(r.take(r.number()))
		ends[i], s.holders[i], s.starts[i] = all.Len(), uint32(r.number()), uint32(total)
		total += r.number()
	}
	s.starts[n] = uint32(total)
	s.postings = []byte(r.take(total))
	r.damaged = r.damaged || r.rest != "" || total >= 1<<32
	for i, start := 0, 0; i < n && !r.damaged; i++ {
		s.terms[i] = all.String()[start:ends[i]]
		start = ends[i]
	}
}

// sound reports whether all that a search reads is within the segment: the terms are in
// order, and so are the documents of each, which exist.
func (s *segment) sound() bool {
	for i := range s.terms {
		if i > 0 && s.terms[i-1] >= s.terms[i] || s.starts[i] > s.starts[i+1] {
			return false
		}
		n, doc := uint32(0), uint64(0)
		for list := s.list(i); len(list) > 0; n++ {
			difference, length := skip(list)
			if length == 0 || difference >= uint64(len(s.docs)) || n > 0 && difference == 0 {
				return false
			}
			if doc += difference; doc >= uint64(len(s.docs)) {
				return false
			}
			list = list[length:]
		}
		if n != s.holders[i] {
			return false
		}
	}
	return true
}
