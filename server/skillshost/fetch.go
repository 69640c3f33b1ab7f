package skillshost

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// Fetch gets all files of an entry, SKILL.md first, and passes each to keep once it is
// verified: its size, its digest, and the fields of its frontmatter. It ends with the
// first error: nothing that was kept may be used then.
func (s *Session) Fetch(ctx context.Context, e *Entry, keep func(r Resource, data []byte) error) error {
	first := e.file(skillFile)
	rest := slices.DeleteFunc(slices.Clone(e.Files), func(r Resource) bool { return r.name == skillFile })
	for _, r := range append([]Resource{*first}, rest...) {
		data, err := s.read(ctx, &r)
		if err == nil && r.name == skillFile {
			err = e.checkFrontmatter(data)
		}
		if err == nil {
			err = keep(r, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFrontmatter returns a [*VerificationError] for a SKILL.md whose frontmatter is not the entry's,
// field by field.
func (e *Entry) checkFrontmatter(data []byte) error {
	front, err := manifest.Frontmatter(data)
	if err == nil {
		data, _ = json.Marshal(front)
		err = json.Unmarshal(data, &front) // numbers as the entry's were read
	}
	if err != nil {
		return &VerificationError{e.URI, fmt.Errorf("the frontmatter of its %s: %w", skillFile, err)}
	}
	for _, key := range slices.Sorted(maps.Keys(e.Frontmatter)) {
		if value, ok := front[key]; !ok || !sameJSON(value, e.Frontmatter[key]) {
			return &VerificationError{e.URI, fmt.Errorf("the field %.100q in its %s is not the one that its server has stated", key, skillFile)}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(front)) {
		if _, ok := e.Frontmatter[key]; !ok {
			return &VerificationError{e.URI, fmt.Errorf("its server has not stated the field %.100q of its %s", key, skillFile)}
		}
	}
	return nil
}
