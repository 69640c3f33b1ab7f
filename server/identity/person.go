package identity

import "slices"

// Named reports whether the principal is a party of its own: a subject of an issuer, or the
// holder of a token with a name. All others act for the person of this machine.
func (p Principal) Named() bool {
	return p.Kind == Subject || p.Kind == Token && p.ID != ""
}

// Owner returns the key of what the principal owns beyond a session: its questions, runs and
// approvals. A named one has them in common for all its profiles.
func (p Principal) Owner() Key {
	if p.Named() {
		p.Profile, p.ReadOnly = "", false
	}
	return p.In("").Key()
}

// Answers reports whether the principal answers questions about its own calls: the person of
// this machine, and a named one whose scopes say so.
func (p Principal) Answers() bool {
	return p.Kind == Person || p.Named() && slices.Contains(p.Scopes, ScopeApprove)
}

// Oversees reports whether the principal sees the questions and runs of all others: the
// person of this machine, and a named one whose scopes say so.
func (p Principal) Oversees() bool {
	return p.Kind == Person || p.Named() && slices.Contains(p.Scopes, ScopeAdmin)
}

// Label returns the principal's name for people.
func (p Principal) Label() string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}
