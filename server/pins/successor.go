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
func (p *Pins) predecessor(ctx context.Context, s subject) *store.Pin {
	origin := s.skill.Origin()
	if origin.Kind != skills.OriginPlugin {
		return nil
	}
	all, err := p.store.Pins(ctx)
	if err != nil {
		return nil
	}
	var newest *store.Pin
	for i, pin := range all {
		other, ok := skills.ParseOrigin(pin.Origin)
		if ok && other.Kind == origin.Kind && pin.Name == s.skill.Owner().QualifiedName() && succeeds(origin.Place, other.Place) &&
			(newest == nil || pin.Accepted.After(newest.Accepted)) {
			newest = &all[i]
		}
	}
	if newest == nil {
		return nil
	}
	pin, err := p.store.Pin(ctx, newest.Origin)
	if err != nil || pin == nil {
		return nil
	}
	if !p.valid(pin) {
		pin = void(pin)
	}
	pin.Origin, pin.GrownDigest, pin.Grown = s.key, "", nil
	return pin
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
