package server

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// maxToolName is what the strictest clients leave: they allow 64 characters and
// put their own prefix before the name.
const maxToolName = 47

// ToolNames returns the names of skills' tools: "plugin__skill" in the letters
// that every client accepts, [a-zA-Z0-9_-]. A name that is too long, that says
// nothing in those letters, or that two skills or a fixed tool would share, is
// cut and ends with eight digits of a hash of the qualified name: the same at
// every start, whatever else there is.
func ToolNames(all []*skills.Skill) map[*skills.Skill]string {
	names := make(map[*skills.Skill]string, len(all))
	claims := map[string]int{}
	for _, name := range fixedNames() {
		claims[name]++
	}
	for _, skill := range all {
		names[skill] = plainName(skill)
		claims[names[skill]]++
	}
	for skill, name := range names {
		if claims[name] > 1 || len(name) > maxToolName || strings.Trim(name, "_-") == "" {
			names[skill] = hashedName(name, skill.QualifiedName())
		}
	}
	return names
}

func plainName(skill *skills.Skill) string {
	name := skill.Name
	if skill.Plugin != "" {
		name = skill.Plugin + "__" + name
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

func hashedName(name, qualified string) string {
	sum := sha256.Sum256([]byte(qualified))
	hash := hex.EncodeToString(sum[:4])
	name = strings.Trim(name[:min(len(name), maxToolName-len("_")-len(hash))], "_-")
	if name == "" {
		name = "skill"
	}
	return name + "_" + hash
}
