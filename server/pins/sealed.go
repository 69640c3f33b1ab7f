package pins

import (
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// accepters names the keys that may accept a skill: a script installs one that gains nothing.
var accepters = []string{seal.Person, seal.Script}

// acceptance returns the fields of a row that its person has signed.
func acceptance(pin *store.Pin) []string {
	return []string{"pin", pin.Name, pin.AcceptedDigest, strconv.FormatInt(pin.Accepted.UnixMilli(), 10)}
}

// proofOf returns the signature of the person, which follows on the MAC of the whole.
func proofOf(pin *store.Pin) []byte { return pin.MAC[min(len(pin.MAC), seal.SumSize):] }

// sealed returns the fields of a row that its MAC is of, as the store returns them.
func sealed(pin *store.Pin) []string {
	moved := ""
	if !pin.Moved.IsZero() {
		moved = strconv.FormatInt(pin.Moved.UnixMilli(), 10)
	}
	return []string{
		"pin", pin.Origin, pin.Name, pin.Digest, string(pin.Surface), strings.Join(pin.Ancestors, " "), pin.AcceptedDigest,
		strconv.FormatInt(pin.Accepted.UnixMilli(), 10), strconv.FormatBool(pin.ByPerson), moved, pin.GrownDigest, string(pin.Grown), string(proofOf(pin)),
	}
}

// void returns a pin of the same origin that accepts nothing: the skill has gained all that
// it can do, so it needs a person. To be no pin would make the next use the first.
func void(pin *store.Pin) *store.Pin {
	return &store.Pin{Origin: pin.Origin, Name: pin.Name, Surface: []byte("{}"), Accepted: pin.Accepted}
}
