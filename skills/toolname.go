package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxToolName is the longest name of a tool in the strictest clients: they allow
// 64 characters and put their own prefix before the name.
const MaxToolName = 47

// PlainToolName is the qualified name with "__" for each slash, in the letters that every
// client accepts in a tool's name, [a-zA-Z0-9_-]. It may be too long, and another skill's
// too.
func (s *Skill) PlainToolName() string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, qualify("__", s.Prefix, s.Plugin, s.Folder, s.Name))
}

// HashedToolName is the plain name, cut, with eight digits of a hash of the
// qualified name: the same at every start, whatever other skills there are.
func (s *Skill) HashedToolName() string {
	sum := sha256.Sum256([]byte(s.QualifiedName()))
	hash := hex.EncodeToString(sum[:4])
	name := s.PlainToolName()
	name = strings.Trim(name[:min(len(name), MaxToolName-len("_")-len(hash))], "_-")
	if name == "" {
		name = "skill"
	}
	return name + "_" + hash
}
