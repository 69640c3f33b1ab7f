package pins

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// predecessor returns the newest pin of another version of a plugin's skill, or nil:
// clients install each version in a folder of its own, beside the last one, so that an
// update would count as a first use.
func (p *Pins) predecessor(ctx context.Context, s subject) *Pin {
	origin := s.skill.Origin()
	if origin.Kind != skills.OriginPlugin {
		return nil
	}
	rows, err := p.store.Decisions(ctx, kind, store.DecisionFilter{About: s.skill.Owner().QualifiedName()})
	if err != nil {
		return nil
	}
	var newest *Pin
	for i := range rows {
		pin := decode(&rows[i], true)
		other, ok := skills.ParseOrigin(pin.Origin)
		if ok && other.Kind == origin.Kind && succeeds(origin.Place, other.Place) && (newest == nil || pin.Accepted.After(newest.Accepted)) {
			newest = pin
		}
	}
	if newest == nil {
		return nil
	}
	if !p.table.Valid(newest.row) {
		newest = decode(newest.row, false)
	}
	newest.Origin, newest.GrownDigest, newest.Grown = s.key, "", nil
	return newest
}

// succeeds reports whether two paths differ in nothing but one folder that is called as
// versions are.
func succeeds(now, before string) bool {
	a, b := strings.Split(filepath.ToSlash(now), "/"), strings.Split(filepath.ToSlash(before), "/")
	if len(a) != len(b) {
		return false
	}
	differ := 0
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if differ++; differ > 1 || !isVersion(a[i]) || !isVersion(b[i]) {
			return false
		}
	}
	return differ == 1
}

// isVersion reports whether a folder may be called after a version: 1.2.0, v3, or the
// beginning of a commit.
func isVersion(name string) bool {
	digits := strings.TrimPrefix(name, "v")
	if digits != "" && '0' <= digits[0] && digits[0] <= '9' && strings.ContainsAny(digits, ".") || digits != "" && strings.Trim(digits, "0123456789") == "" {
		return true
	}
	return len(name) >= 7 && strings.Trim(name, "0123456789abcdef") == "" || name == "latest" || name == "unknown"
}
