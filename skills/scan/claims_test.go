package scan

import (
	"fmt"
	"testing"
)

// A name with its prefix is not claimed any more, whatever it is, and one that is not
// claimed has none.
func FuzzPrefix(f *testing.F) {
	for _, seed := range [][2]string{{"deploy", "Dерloy"}, {"workspace", "workspace"}, {"workspace/deploy", "deploy"}, {"team", "team:x"}, {"a", "user:b"}, {"x", "_/:"}, {"", ""}, {"workspace-2", "\u200d/\u0301"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, taken, name string) {
		c := claims{}
		c.add(taken, "workspace")
		prefix := c.prefix(name)
		if (prefix != "") != c.claimed(name) || prefix != "" && c.claimed(prefix+"/"+name) {
			t.Errorf("%q beside %q has the prefix %q", name, taken, prefix)
		}
		if keyOf(name) == keyOf(taken) && prefix == "" {
			t.Errorf("%q could be mistaken for %q", name, taken)
		}
	})
}

// The names of 10,000 skills are claimed for one of a workspace.
func BenchmarkClaims(b *testing.B) {
	var names []string
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("plugin-%d/deploy-the-service-%d", i%100, i), fmt.Sprintf("deploy-the-service-%d", i))
	}
	for b.Loop() {
		c := claims{}
		c.add(names...)
		if c.prefix("Deploy_the_service_7") == "" {
			b.Fatal("it is not claimed")
		}
	}
}
