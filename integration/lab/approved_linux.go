package lab

import (
	"encoding/json"
)

// States returns the states of skills that list prints, by name.
func (a *Account) States(more ...string) map[string]string {
	a.T.Helper()
	out, code := a.Run(append([]string{"list", "--json"}, more...)...)
	var list struct {
		Skills []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		a.T.Fatalf("list: exit %d, %v\n%s", code, err, out)
	}
	all := map[string]string{}
	for _, skill := range list.Skills {
		all[skill.Name] = skill.State
	}
	return all
}
