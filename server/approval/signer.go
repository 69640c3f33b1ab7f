package approval

import (
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
	case ByScript:
		return "by a script with its token"
	}
	return "in a way that was not recorded"
}

// Named returns a second person, who proves to be the one of a name by a passphrase.
func Named(name string) Signer { return Signer{"approver:" + name, name} }

// issued begins the ID of a subject of an issuer, who has no key: the program has
// authenticated them.
const issued = "oidc:"

// signerOf returns the person who answers the questions to a principal's client.
func signerOf(p identity.Principal) Signer {
	if p.Kind == identity.Subject {
		return Signer{issued + p.ID, p.ID}
	}
	return Local()
}

// ownerOf names a principal in the store, without its session.
func ownerOf(p identity.Principal) string { return string(p.In("").Key()) }
