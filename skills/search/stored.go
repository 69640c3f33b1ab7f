package search

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
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
	texts := []string{s.QualifiedName(), s.Revision}
	if s.Revision == "" || s.Blocked != "" { // of no file, or other texts than those of its files
		texts = []string{s.QualifiedName(), s.DisplayName}
		for _, of := range newDocument(s).texts {
			texts = append(texts, strings.Join(of, "\x00"))
		}
	}
	var all []byte
	for _, text := range texts {
		all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
	}
	all = appendInvocable(all, s) // a configuration may change it
	for _, tool := range s.Tools {
		all = appendInvocable(all, tool)
	}
	sum := sha256.Sum256(all)
	return string(sum[:keyLength])
}

func appendInvocable(b []byte, s *skills.Skill) []byte {
	if s.ModelInvocable {
		return append(b, 1)
	}
	return append(b, 0)
}

// sizes are the start of a stored index: the numbers of documents and terms, and the
// bytes of the names and the terms. Behind it are the lengths of the documents, the
// holders and the starts of the terms, the keys, the names, the terms and the postings.
type sizes struct{ Docs, Terms, NamesText, TermsText uint32 }

// encode returns the segment as a string. No name or term has a space.
func (s *segment) encode() string {
	var keys, names []string
	lengths := make([][fieldCount]uint16, len(s.docs))
	for i, d := range s.docs {
		keys, names, lengths[i] = append(keys, keyOf(d.skill)), append(names, strings.Join(d.names, " ")), d.lengths
	}
	named, terms := strings.Join(names, "\n"), strings.Join(s.terms, "\n")
	size := sizes{uint32(len(s.docs)), uint32(len(s.terms)), uint32(len(named)), uint32(len(terms))}
	var b []byte
	for _, numbers := range []any{size, lengths, s.holders, s.starts} {
		b, _ = binary.Append(b, binary.LittleEndian, numbers) // all have a fixed size
	}
	return string(append(b, strings.Join(keys, "")+named+terms+string(s.postings)...))
}

// restore returns the snapshot of a stored index, or of "": with the skills of the catalog
// that it has documents of, and a skill that is in no catalog for each of the others.
func restore(stored string, catalog *skills.Catalog) *snapshot {
	known, s := &skills.Catalog{}, &segment{}
	if stored == "" {
		return &snapshot{known, s}
	}
	b := []byte(stored)
	read := func(into any) {
		n, _ := binary.Decode(b, binary.LittleEndian, into) // the cache has checked that all is there
		b = b[n:]
	}
	take := func(n uint32) string {
		taken := string(b[:n])
		b = b[n:]
		return taken
	}
	var size sizes
	read(&size)
	lengths := make([][fieldCount]uint16, size.Docs)
	s.holders, s.starts = make([]uint32, size.Terms), make([]uint32, size.Terms+1)
	read(lengths)
	read(s.holders)
	read(s.starts)
	keys, names := take(keyLength*size.Docs), strings.Split(take(size.NamesText), "\n")
	s.terms = strings.Split(take(size.TermsText), "\n")[:size.Terms]
	s.postings = slices.Clone(b)
	byKey := make(map[string]*skills.Skill, len(catalog.Skills))
	for _, skill := range catalog.Skills {
		byKey[keyOf(skill)] = skill
	}
	for i, length := range lengths {
		key := keys[keyLength*i:][:keyLength]
		skill := byKey[key]
		if skill == nil {
			skill = &skills.Skill{}
		}
		delete(byKey, key)
		s.docs = append(s.docs, doc{skill, strings.Split(names[i], " "), length})
		known.Skills = append(known.Skills, skill)
	}
	return &snapshot{known, s}
}
