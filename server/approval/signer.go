package approval

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/seal"
)

// A Signer is a person who confirms calls. Equal signers are one person.
type Signer struct {
	ID   string `json:"id"`
	Name string `json:"name"` // for people
}

// Local returns the person of this machine. Whoever calls over standard input and output,
// with a token or without credentials is that person too, as is who sits at a terminal:
// nothing tells them apart.
func Local() Signer { return Signer{seal.Person, "the person of this machine"} }

// A Way is the means by which a person's yes came.
type Way string

// The ways of a yes.
const (
	ByForm     Way = "form"     // of the client, which a program may have answered
	ByTerminal Way = "terminal" // with keystrokes
	ByPage     Way = "page"
	ByToken    Way = "token"  // over the REST API, of a principal who may answer
	ByScript   Way = "script" // with the token of a script
)

// String returns the way in words.
func (w Way) String() string {
	switch w {
	case ByForm:
		return "by a form of the client"
	case ByTerminal:
		return "on a terminal"
	case ByPage:
		return "on the page"
	case ByToken:
		return "with a token, over the REST API"
	case ByScript:
		return "by a script with its token"
	}
	return "in a way that was not recorded"
}

// Named returns a second person, who proves to be the one of a name by a passphrase.
func Named(name string) Signer { return Signer{"approver:" + name, name} }

// SignerOf returns the person who answers the questions about a principal's calls.
func SignerOf(p identity.Principal) Signer {
	if p.Named() {
		return Signer{string(p.Kind) + ":" + p.ID, p.Label()}
	}
	return Local()
}

// named reports whether a signer is a named principal, who has no key: the program has
// authenticated them.
func (s Signer) named() bool {
	kind, _, _ := strings.Cut(s.ID, ":")
	return kind == string(identity.Subject) || kind == string(identity.Token)
}

// ownerOf names a principal in the store, without its session. Its profile is a part, as a
// yes to a call with one profile lets none with another run.
func ownerOf(p identity.Principal) string { return string(p.In("").Key()) }

// isNamed reports whether a name is that of a principal with an ID.
func isNamed(owner string) bool {
	_, id, _ := strings.Cut(owner, "/")
	return id != "" && id[0] != '/' // a profile follows
}
