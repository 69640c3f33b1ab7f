package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// matches is the metadata of match_skills.
type matches struct {
	Skills, Always, Loaded []string
	Doubtful               bool
}

func (b *bench) match(message string) (text string, m matches) {
	b.t.Helper()
	result := b.ask("tools/call", fmt.Sprintf(`{"name": "match_skills", "arguments": {"message": %q}}`, message))
	var a struct {
		IsError bool
		Content []struct{ Text string }
		Meta    matches `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(result), &a); err != nil || a.IsError || len(a.Content) != 1 {
		b.t.Fatalf("%q: %s", message, result)
	}
	return a.Content[0].Text, a.Meta
}

// skillFiles adds skills of instructions to the files of a bench, by name.
func (b *bench) skillFiles(texts map[string]string) {
	b.t.Helper()
	for name, text := range texts {
		b.files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\n" + text)}
	}
	b.publish()
}

func orchard() map[string]string {
	return map[string]string{
		"prune-trees":   "description: Prune apple trees in winter.\n---\nCut the orchard's water shoots first.\n",
		"graft-trees":   "description: Graft apple trees on rootstock.\n---\nMatch the cambium of orchard scions.\n",
		"press-apples":  "description: Press apples of the orchard into cider.\n---\nWash, mill, press.\n",
		"orchard-diary": "description: Keep the diary of the apple orchard.\nactivation: always\n---\nWrite one line each day.\n",
	}
}

// A prompt gets the lines of the skills that fit, and the instructions of no more than
// two of them, as load_skill returns them.
func TestMatch(t *testing.T) {
	used := counted{}
	b := newBenchWith(t, ends(0, "", ""), Options{Usage: &used})
	b.skillFiles(orchard())
	text, m := b.match("graft apple trees")
	if len(m.Loaded) != 2 || len(m.Skills) == 0 || m.Skills[0] != "demo/graft-trees" || m.Loaded[0] != "demo/graft-trees" {
		t.Fatalf("%+v\n%s", m, text)
	}
	for _, want := range []string{"- demo/graft-trees: Graft apple trees on rootstock.", "<skill name=\"demo/graft-trees\">\nBase directory for this skill: ", "Match the cambium"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if len(used) > 0 {
		t.Errorf("it counts as a use of %q", used)
	}
}

// TestMatchNames loads the skill that a message names in whole words, also where there are two
// skills only, and no word is rare.
func TestMatchNames(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	for name := range b.files {
		delete(b.files, name)
	}
	b.files["p/.claude-plugin/plugin.json"] = &fstest.MapFile{Data: []byte(`{"name": "demo"}`)}
	b.skillFiles(map[string]string{
		"weather":   "description: Get current conditions and forecasts. No API key needed.\n---\nUse curl.\n",
		"pdf":       "description: Read documents.\n---\nUse poppler.\n",
		"pdf-forms": "description: Fill in documents.\n---\nUse qpdf.\n",
		"ab":        "description: Has a short name.\n---\nIs brief.\n",
	})
	for message, want := range map[string]string{
		"What is the weather in London?":                "demo/weather",
		"WEATHER, please":                               "demo/weather",
		"fill in these PDF forms, then say the weather": "demo/pdf-forms demo/weather", // and not demo/pdf: two are loaded
		"a poem about the sea":                          "",
		"ab":                                            "demo/ab", // as a search for it
		"as simple as ab c":                             "",
	} {
		if _, m := b.match(message); strings.Join(m.Loaded, " ") != want || m.Doubtful && want != "" {
			t.Errorf("%q: %+v, want %q", message, m, want)
		}
	}
	for limit, want := range map[string]int{"1": 1, "2": 2, "99": 3} {
		a := b.call("match_skills", `{"message": "pdf forms weather", "limit": `+limit+`}`)
		if got := strings.Count(a.text(), "\n- "); got != want {
			t.Errorf("limit %s: %d skills: %s", limit, got, a.text())
		}
	}
}

// What an author wants always comes with every message, behind what fits.
func TestMatchAlways(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.skillFiles(orchard())
	text, m := b.match("zzyzx qqq")
	if !slices.Equal(m.Always, []string{"demo/orchard-diary"}) || !slices.Equal(m.Loaded, m.Always) || len(m.Skills) > 3 {
		t.Errorf("%+v\n%s", m, text)
	}
	if !strings.Contains(text, "Skills for every message:\n- demo/orchard-diary: ") || !strings.Contains(text, "Write one line each day.") {
		t.Error(text)
	}
}

// Nothing is told of skills that a model may not call, that have changed, that cannot run,
// or that a stranger brought.
func TestMatchHides(t *testing.T) {
	reason := &run.Error{Code: run.ApprovalRequired, Message: "it has changed"}
	b := newBenchWith(t, ends(0, "", ""), Options{Texts: func(_ context.Context, skill *skills.Skill) error {
		if skill.Name == "gated" {
			return reason
		}
		return nil
	}})
	plain, _ := b.match("harvest pears with a ladder")
	add := func(name string, change func(*skills.Skill)) *skills.Skill {
		s := &skills.Skill{
			Name: name, Description: "Harvest pears with a ladder.", Instructions: "Climb the ladder.", ModelInvocable: true,
			Files: fstest.MapFS{}, Dir: t.TempDir(), Frontmatter: map[string]any{"activation": "always"},
		}
		change(s)
		return s
	}
	b.publishWith(
		add("blocked", func(s *skills.Skill) { s.Blocked = "it has changed" }),
		add("broken", func(s *skills.Skill) { s.Unavailable = "it needs a tree" }),
		add("gated", func(*skills.Skill) {}),
		add("person", func(s *skills.Skill) { s.ModelInvocable = false }),
		add("stranger", func(s *skills.Skill) { s.Workspace = "/cloned" }),
	)
	if text, m := b.match("harvest pears with a ladder"); text != plain || len(m.Skills)+len(m.Always)+len(m.Loaded) > 0 {
		t.Errorf("%+v\n%s\nwithout them: %s", m, text, plain)
	}
	b.publishWith(add("mine", func(s *skills.Skill) { s.Instructions = strings.Repeat("Climb the ladder. ", 2000) }))
	text, m := b.match("harvest pears with a ladder")
	if !slices.Equal(m.Loaded, []string{"mine"}) || len(text) > maxInjectedText+1<<10 || !strings.Contains(text, "load_skill returns all.") {
		t.Errorf("%+v, %d bytes", m, len(text))
	}
}

// The tool answers always, and is listed where the options say so: each listed tool costs
// room in every conversation.
func TestMatchIsListed(t *testing.T) {
	for _, listed := range []bool{false, true} {
		b := newBenchWith(t, ends(0, "", ""), Options{MatchSkills: listed})
		tools, _ := b.tools()
		if got := tools["match_skills"] != nil; got != listed {
			t.Errorf("it is listed: %t, want %t", got, listed)
		}
		b.match("run a thing")
	}
	b := newBench(t, ends(0, "", ""))
	for args, want := range map[string]string{`{"message": "  "}`: `"message" is empty`, `{}`: `missing required parameter "message"`} {
		if a := b.call("match_skills", args); !a.IsError || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %s", args, a.text())
		}
	}
}
