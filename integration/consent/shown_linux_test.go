package consent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A question says in its first sentence who wants what, and has a line for each host of the
// grant. A grant that does not fit is asked about by no form, but shown whole on a terminal.
// Arguments that differ in the middle look different, and a terminal shows them whole.
func TestQuestionShowsAll(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		hosts := func(n int) (all []string) {
			for i := range n {
				all = append(all, fmt.Sprintf("host-%02d.a-rather-long-name.example.com:443", i))
			}
			return all
		}
		rule := func(n int) string {
			text, err := json.Marshal(hosts(n))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		a := lab.NewAccount(t, driver, "policy: {skills: {eight: {network: "+rule(8)+"}, forty: {network: "+rule(40)+"}}}\n")
		for _, name := range []string{"eight", "forty", "note"} {
			a.NoteSkill(name)
		}
		lines := func(where, text string, n int) {
			t.Helper()
			for _, host := range hosts(n) {
				if strings.Count(text, fmt.Sprintf("\n> %q\n", host)) != 1 {
					t.Errorf("%s has no line of %s:\n%s", where, host, text)
				}
			}
		}
		terminal := func(id string) string {
			t.Helper()
			out, code := a.Run("approvals", id)
			if code != 0 {
				t.Fatal(out)
			}
			return out
		}
		for _, era := range []string{"legacy", "modern"} {
			c := a.Serve(era, `{"elicitation":{}}`)
			asked := c.Call("eight", lab.Text(era))
			first, _, _ := strings.Cut(asked.Asked.Message, "\n")
			if want := "eight wants to change files in ~/project (text=" + era + ") and connect to 8 hosts, once or for this session?"; first != want || utf8.RuneCountInString(first) > 120 {
				t.Errorf("the first sentence is %q", first)
			}
			lines("the form", asked.Asked.Message, 8)
			c.Fails(c.Choose(asked, "no"))
			lines("a terminal", terminal(c.Waits(c.Call("forty", lab.Text(era)))), 40)

			shown := map[string]bool{}
			for _, middle := range []string{"left", "righ"} {
				text := strings.Repeat("x", 50_000) + middle + strings.Repeat("x", 50_000)
				mute := a.Serve(era, `{}`) // before the form: a no that takes as long as a person's is one
				if out := terminal(mute.Waits(mute.Call("note", lab.Text(text)))); !strings.Contains(out, text) {
					t.Errorf("%s: a terminal does not show the whole: %.1000s", middle, out)
				}
				asked := c.Call("note", lab.Text(text))
				shown[asked.Asked.Message] = true
				c.Fails(c.Choose(asked, "no"))
			}
			if len(shown) != 2 {
				t.Errorf("calls that differ in the middle have the same form")
			}
		}
		a.Wrote(0)
	})
}
