package page

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// newModel returns a model that calls a tool with arguments, which are JSON.
func newModel(t *testing.T, tool, args string) *lab.ModelAPI {
	m := &lab.ModelAPI{Tool: tool, Args: args}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.Url = server.URL
	return m
}

// shop returns an account with a skill of somebody else's, which changes files and reaches a
// host, in a workspace of a plain name.
func shop(t *testing.T) *lab.Account {
	t.Helper()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.NewAccount(t, "native", "")
	for _, name := range []string{"rename-files", "other-files"} {
		a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Renames files.\nclass: mutating\nscript: run.sh\nparams: {pattern: string, to: string}\n---\n")
		a.Skill(name+"/run.sh", "echo renamed >> \"$SKILL_WORKSPACE/notes\" && echo \"renamed $*\"\n")
	}
	a.Configure("policy: {skills: {rename-files: {workspace: rw, network: [\"api.example.com:443\"]}}}\n")
	return a
}

// rename are the arguments of the call.
const rename = `{"pattern":"*.csv","to":"c"}`

// who matches the text that a person must be able to read whatever a client shows of the question.
const who = `rename-files wants to change files in ~/project \(pattern=\*\.csv, to=c\)`

// joined returns a text in one line, with single spaces.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }

// legible fails the test unless a person reads who wants what, and where, in what a client shows.
func legible(t *testing.T, shown string) {
	t.Helper()
	t.Logf("shown:\n%s", shown)
	for _, want := range []string{who, `connect to api\.example\.co`, `skills-mcp asks this, not the skill`} {
		if !regexp.MustCompile(want).MatchString(joined(shown)) {
			t.Errorf("%q cannot be read", want)
		}
	}
}

// TestDialogs: who wants what, and where, can be read in the dialogs of real clients, and an
// answer that a person gives there counts.
func TestDialogs(t *testing.T) {
	t.Parallel()
	t.Run("Claude Code", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		s := a.Claude(m, "")
		shown := s.Shows(`Accept +Decline`)
		_, dialog, _ := strings.Cut(shown, "requests your input")
		question, _, _ := strings.Cut(dialog, "Your answer")
		legible(t, question)
		s.Press("Right")
		s.Shows(`❯ ◯ No`)
		s.Press("Down")
		s.Shows(`❯ ◯ Yes, once`)
		s.Press("Enter")
		s.Shows(`✔ Your answer`)
		s.Read()
		s.Press("Enter")
		lab.Awaits(t, "renamed", m.Told)
		a.Wrote(1)
	})
	t.Run("Codex", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		s := a.Codex(m, "")
		s.Shows("Allow the skills MCP server to run tool")
		s.Read() // Codex drops a key that comes with its dialog
		s.Press("Enter")
		legible(t, s.Shows(`› 1\. No`))
		s.Press("Down")
		s.Shows(`› 2\. Yes, once`)
		s.Read()
		s.Press("Enter")
		lab.Awaits(t, "renamed", m.Told)
		a.Wrote(1)
	})
	t.Run("MCP Inspector", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		b := a.InspectorPage()
		b.Await(`document.querySelector("[role=dialog]") !== null`)
		dialog, err := chromedp.Run(b.Ctx, chromedp.Evaluate[string](`document.querySelector("[role=dialog]").innerText`))
		if err != nil {
			t.Fatal(err)
		}
		legible(t, dialog)
	})
}

// Programs answer forms: hooks of the person's client, and a client that asks nobody. None of
// their answers is a yes.
func TestProgramsAnswerForms(t *testing.T) {
	t.Parallel()
	t.Run("a hook of Claude Code", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		hook, err := json.Marshal(`echo '{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"answer":"always"}}}'`)
		if err != nil {
			t.Fatal(err)
		}
		a.Claude(m, fmt.Sprintf(`,"hooks":{"Elicitation":[{"hooks":[{"type":"command","command":%s}]}]}`, hook))
		lab.Awaits(t, "APPROVAL_REQUIRED", m.Told)
		a.Wrote(0)
	})
	t.Run("Codex with full access", func(t *testing.T) {
		t.Parallel()
		a := shop(t)
		m := newModel(t, "rename-files", rename)
		a.Codex(m, "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"")
		// A decline that takes as long as a person's is one.
		lab.Awaits(t, "APPROVAL_REQUIRED|said no", m.Told)
		a.Wrote(0)
	})
}
