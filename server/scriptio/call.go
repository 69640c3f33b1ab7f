package scriptio

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// A Call is a script's call of another skill.
type Call struct {
	Skill string // a name
	// Args are the arguments, as values of encoding/json with numbers as they are written.
	Args map[string]any
}

// ParseCall parses a line {"mcp": {"call": {"skill": NAME, "args": {…}}}}. The error
// describes a malformed one to the script's author.
func ParseCall(line []byte) (c Call, err error) {
	said, ok := object(line)
	var members map[string]json.RawMessage
	if !ok || len(said) != 1 || json.Unmarshal(said["call"], &members) != nil || members == nil {
		return c, errors.New(`the call is not understood: it is one line, {"mcp": {"call": {"skill": NAME, "args": {…}}}}`)
	}
	for name, raw := range members {
		switch name {
		case "skill":
			if json.Unmarshal(raw, &c.Skill) != nil {
				return c, errors.New(`"skill" is not a name`)
			}
		case "args":
			args, err := schema.Decode(raw)
			if err != nil {
				return c, fmt.Errorf(`"args" cannot be used: %w`, err)
			}
			if c.Args, ok = args.(map[string]any); !ok && args != nil {
				return c, errors.New(`"args" is not an object`)
			}
		default:
			return c, fmt.Errorf("%q is not known in a call: it has skill and args", name)
		}
	}
	if c.Skill == "" {
		return c, errors.New(`the call names no skill; write its name as "skill"`)
	}
	return c, nil
}
