package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// grove are skills, each with a word that occurs nowhere else: in its description, its texts
// and its files.
var grove = []struct{ name, folder, word, fields string }{
	{"ash", "skills/ash", "okapiroot", "class: safe\n"},
	{"birch", "skills/birch", "quokkafruit", "class: safe\n"},
	{"oak", "skills/oak", "dugongseed", "class: mutating\n"},
	{"caller", "skills/caller", "lemurtwig", "class: safe\ncalls: [\"*\"]\n"},
	{"wood/elm", "plugins/wood/skills/elm", "numbatleaf", "class: safe\n"},
	{"rowan", "skills/rowan", "tapirbark", "class: nonsense\n"}, // has problems
	{"broken", "skills/broken", "civetcone", "\t: [\n"},         // does not load
}

// words returns the words of skills.
func words(names ...string) (all []string) {
	for _, s := range grove {
		if slices.Contains(names, s.name) {
			all = append(all, s.word)
		}
	}
	return all
}

// A stand is a view of the server, and a server whose folders lack what does not exist there.
type stand struct {
	name, path, profile string
	lacks               []string
	mode                string // of the policy of the other server
}

var stands = []stand{
	{"default", "/mcp", "", nil, "confirm"},
	{"north", "/mcp/p/north", "north", []string{"birch", "wood/elm", "rowan", "broken"}, "confirm"},
	{"south", "/mcp/p/south", "south", []string{"ash"}, "confirm"},
	{"readonly", "/mcp/readonly", "", []string{"oak"}, "read-only"},
	{"north, read-only", "/mcp/p/north/readonly", "north", []string{"birch", "wood/elm", "rowan", "broken", "oak"}, "read-only"},
}

// A wayIn is a request that may tell of skills, or of the one that it names. Its params are
// made with a name.
type wayIn struct {
	key    string // "tool:NAME", "method:NAME" or "rest:OPERATION"
	params string // NAME, WORD and CALL stand for the skill
	lists  bool   // names no skill: it is asked once, and tells the words of all that exist
	runs   bool   // changes the record, and so comes last
	fails  bool   // no skill makes a difference: it has nothing to tell
}

var waysIn = []wayIn{
	{key: "tool:list_skills", params: `{}`, lists: true},
	{key: "tool:list_plugins", params: `{}`},
	{key: "tool:reload_skills", params: `{}`},
	{key: "tool:search_skills", params: `{"query":"WORD"}`},
	{key: "tool:search_skills", params: `{"query":"NAME tree"}`},
	{key: "tool:match_skills", params: `{"message":"please handle WORD trees with NAME"}`},
	{key: "tool:get_skill", params: `{"name":"NAME"}`},
	{key: "tool:load_skill", params: `{"name":"NAME"}`},
	{key: "tool:rate_skill", params: `{"name":"NAME","ok":true}`, runs: true},
	{key: "tool:run_skill", params: `{"name":"NAME","params":{"tree":"WORD"}}`, runs: true},
	{key: "tool:run_code", params: `{"language":"bash","code":"cat /skill/* 2>&1","skill":"NAME"}`, runs: true},
	{key: "tool:open_sandbox", params: `{"skill":"NAME"}`, runs: true},
	{key: "tool:close_sandbox", params: `{"container_id":"NAME"}`, fails: true},
	{key: "tool:read_output", params: `{"uri":"skills-mcp://runs/NAME/stdout"}`, fails: true},
	{key: "tool:install_skill", params: `{"name":"NAME","source":"/nowhere"}`, fails: true},
	{key: "tool:CALL", params: `{"tree":"WORD"}`, runs: true},                       // the skill's own
	{key: "tool:caller", params: `{"tree":"NAME"}`, runs: true},                     // a call from a script
	{key: "tool:run_skill", params: `{"name":"skill://NAME/SKILL.md"}`, runs: true}, // by another name
	{key: "method:tools/list", params: `{}`, lists: true},                           // and the catalog in a description
	{key: "method:prompts/list", params: `{}`, lists: true},
	{key: "method:prompts/get", params: `{"name":"NAME"}`, runs: true},
	{key: "method:prompts/get", params: `{"name":"use_skill","arguments":{"name":"NAME"}}`, runs: true},
	{key: "method:resources/list", params: `{}`, lists: true},
	{key: "method:resources/templates/list", params: `{}`},
	{key: "method:resources/read", params: `{"uri":"skill://NAME/SKILL.md"}`},
	{key: "method:resources/read", params: `{"uri":"skill://NAME/notes.md"}`},
	{key: "method:resources/read", params: `{"uri":"skill://index.json"}`, fails: true},
	{key: "method:resources/directory/read", params: `{"uri":"skill://NAME"}`},
	{key: "method:skills/list", params: `{}`, lists: true},
	{key: "method:skills/get", params: `{"uri":"skill://NAME/SKILL.md"}`},
	{key: "method:resources/subscribe", params: `{"uri":"skill://NAME/SKILL.md"}`, fails: true}, // of legacy clients; see TestViewsNotices
	{key: "method:completion/complete", params: completes(`"ref/prompt","name":"use_skill"`, "name", "")},
	{key: "method:completion/complete", params: completes(`"ref/prompt","name":"use_skill"`, "name", "NAME")},
	{key: "method:completion/complete", params: completes(`"ref/prompt","name":"NAME"`, "kind", "")},
	{key: "method:completion/complete", params: completes(`"ref/resource","uri":"skill://{+path}"`, "path", "")},
	{key: "rest:listSkills", params: `GET skills`, lists: true},
	{key: "rest:listSkills", params: `GET skills?q=WORD`},
	{key: "rest:listSkills", params: `GET skills?class=mutating`},
	{key: "rest:getSkill", params: `GET skills/NAME`},
	{key: "rest:executeSkill", params: `POST skills/NAME/execute {"params":{"tree":"WORD"}}`, runs: true},
	{key: "rest:setEnabled", params: `PUT skills/NAME/enabled {"enabled":false}`, fails: true},
	{key: "rest:setPinned", params: `PUT skills/NAME/pinned {"pinned":true}`, fails: true},
	{key: "rest:listPlugins", params: `GET plugins`},
	{key: "rest:grantSecret", params: `POST skills/NAME/secrets {"name":"X"}`, fails: true},
	{key: "rest:revokeSecret", params: `DELETE skills/NAME/secrets/X`, fails: true},
	{key: "rest:listProfiles", params: `GET profiles`, fails: true}, // which name skills
	{key: "rest:addProfile", params: `POST profiles {"name":"x","allow":["NAME"]}`, fails: true},
	{key: "rest:setProfile", params: `PUT profiles/north {"allow":["NAME"]}`, fails: true},
	{key: "rest:removeProfile", params: `DELETE profiles/north`, fails: true},
	{key: "rest:tryProfile", params: `GET profiles/north/skills`, fails: true},
	{key: "rest:getOutput", params: `GET runs/NAME/outputs/stdout`, fails: true},
}

// elsewhere are the operations of the REST API that concern no skill, but runs, subagents, questions and
// secrets of the principal alone.
var elsewhere = []string{"describe", "diagnose", "listRuns", "getRun", "cancelRun", "listApprovals", "getApproval", "answerApproval", "revokeApproval", "listSecrets", "removeSecret", "listSubagents", "getSubagent", "stopSubagent"}

// methodsOf are the methods of each capability that a server advertises.
var methodsOf = map[string][]string{
	"tools": {"tools/list"}, "prompts": {"prompts/list", "prompts/get"}, "completions": {"completion/complete"}, "logging": nil,
	"resources":                         {"resources/list", "resources/templates/list", "resources/read", "resources/subscribe"},
	"io.modelcontextprotocol/skills":    {"skills/list", "skills/get", "resources/directory/read"},
	"io.modelcontextprotocol/tasks":     nil, // belong to a principal, whose key has the profile
	"io.modelcontextprotocol/ui":        nil,
	"io.modelcontextprotocol/templates": nil,
}

func completes(ref, argument, value string) string {
	return fmt.Sprintf(`{"ref":{"type":%s},"argument":{"name":%q,"value":%q}}`, ref, argument, value)
}

// A forest is a running server, with the folder of its skills.
type forest struct {
	t         *testing.T
	url, root string
	sessions  map[string]string // of legacy clients, by path
	headers   []string          // of all requests
}

// plant starts a server with all skills but some.
func plant(t *testing.T, lacks []string, policy string) *forest {
	t.Helper()
	root := t.TempDir()
	for _, s := range grove {
		if slices.Contains(lacks, s.name) {
			continue
		}
		folder, bare := filepath.Join(root, s.folder), s.name[strings.LastIndex(s.name, "/")+1:]
		lab.WriteFile(t, filepath.Join(folder, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Handles %[2]s trees.\nscript: run.sh\nparams:\n  tree: {type: string}\n  kind: {type: string, enum: [%[2]s]}\n%[3]s---\nInstructions about %[2]s.\n", bare, s.word, s.fields))
		lab.WriteFile(t, filepath.Join(folder, "notes.md"), "Notes on "+s.word+".\n")
		script := "#!/bin/sh\necho ran " + s.word + "\n"
		if s.name == "caller" {
			script = "#!/bin/sh\nprintf '{\"mcp\":{\"call\":{\"skill\":\"%s\",\"args\":{}}}}\\n' \"$2\"\nread -r answer\necho \"answer: $answer\" | sed 's/\"wall_time_ms\":[0-9]*//'\n"
		}
		lab.WriteFile(t, filepath.Join(folder, "run.sh"), script)
		if err := os.Chmod(filepath.Join(folder, "run.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(lacks, "wood/elm") {
		lab.WriteFile(t, filepath.Join(root, "plugins/wood/.claude-plugin/plugin.json"), `{"name":"wood","version":"1.0.0","description":"Of numbatleaf."}`)
	}
	lab.WriteFile(t, filepath.Join(root, "plugins/stone/.claude-plugin/plugin.json"), `{"name":"stone","version":"1.0.0","description":"Of stone."}`)
	config := filepath.Join(root, "config.yaml")
	lab.WriteFile(t, config, fmt.Sprintf("skills: [%s]\nplugins: [%s]\nroots: {session: false, user: false, system: false, samples: false}\nexpose: {max_tools: 3}\ntools: {run_code: true, kept_sandboxes: true, match_skills: true, install_skill: true}\nsandbox: {kept: {total: 64, per_caller: 64}}\n%s", filepath.Join(root, "skills"), filepath.Join(root, "plugins"), policy))
	url, stop := lab.ServeHTTP(t, []string{"XDG_CONFIG_HOME=" + root, "XDG_STATE_HOME=" + root, "XDG_DATA_HOME=" + root}, "--config", config)
	t.Cleanup(func() { stop() })
	return &forest{t, strings.TrimSuffix(url, "/mcp"), root, map[string]string{}, nil}
}

// changing are the parts of an answer that differ from one to the next.
var changing = regexp.MustCompile(`\b(run|session)-[0-9a-z]+|wall_time_ms\\?":\d+|ttlMs":\d+|\d{4}-\d\d-\d\dT[0-9:.]*(Z|[+-][0-9:]*)|127\.0\.0\.1:\d+|box-[a-z0-9]+|approval\\?":\\?"[a-z0-9]+|approve [a-z0-9]{10}|until \d\d:\d\d`)

// send sends a request and returns what comes back, without what changes each time.
func (f *forest) send(method, url, body string, headers ...string) string {
	f.t.Helper()
	response := lab.Request(f.t, method, f.url+url, strings.NewReader(body), append(slices.Concat(f.headers, headers), "Content-Type: application/json", "Accept: application/json, text/event-stream")...)
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		f.sessions[url] = id
	}
	all, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	// A run that has not ended when its stream begins has a comment, which clients ignore.
	text := fmt.Sprintf("%d %s", response.StatusCode, strings.NewReplacer(f.root, "ROOT", ": it runs\n\n", "").Replace(string(all)))
	return changing.ReplaceAllStringFunc(text, func(s string) string {
		if key, _, found := strings.Cut(s, `":`); found {
			return key + `":0`
		}
		return "CHANGES"
	})
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// ask makes a request of a way in, about a skill.
func (f *forest) ask(era string, at stand, way wayIn, skill, word string) string {
	f.t.Helper()
	call := strings.ReplaceAll(skill, "/", "__")
	fill := strings.NewReplacer("NAME", skill, "WORD", word, "CALL", call).Replace
	kind, name, _ := strings.Cut(fill(way.key), ":")
	params := fill(way.params)
	if kind == "rest" {
		verb, rest, _ := strings.Cut(params, " ")
		target, body, _ := strings.Cut(rest, " ")
		headers := []string{}
		if at.profile != "" {
			headers = append(headers, "Skills-Profile: "+at.profile)
		}
		return f.send(verb, "/v1/"+strings.ReplaceAll(target, "wood/elm", "wood%2Felm"), body, headers...)
	}
	method := name
	if kind == "tool" {
		method, params = "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, params)
	}
	if era == "legacy" {
		return f.send("POST", at.path, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), "Mcp-Session-Id: "+f.session(at.path))
	}
	var named struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params), &named) // some have none
	params = strings.TrimSuffix(params, "}")
	if params != "{" {
		params += ","
	}
	return f.send("POST", at.path, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s%s}}`, method, params, modernMeta), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: "+method, "Mcp-Name: "+named.Name+named.URI)
}

// session returns the session of a legacy client.
func (f *forest) session(path string) string {
	f.t.Helper()
	if f.sessions[path] == "" {
		said := f.send("POST", path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"table","version":"1"}}}`)
		if f.sessions[path] == "" {
			f.t.Fatalf("initialize: %s", said)
		}
	}
	return f.sessions[path]
}

// TestViewsTable asks by each way in, in both generations, in each view, about each skill: the
// answer is that of a server whose folders never had what does not exist in the view, byte by
// byte, so that nothing tells of it. A skill that does exist makes a difference.
func TestViewsTable(t *testing.T) {
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	const calls = "skills: {caller: {calls: [\"*\"]}}"
	whole := plant(t, nil, "policy:\n  "+calls+"\n  profiles:\n    north: {deny: [birch, \"wood/*\", rowan, broken]}\n    south: {deny: [ash]}\n")
	others := map[string]*forest{}
	for _, at := range stands {
		others[at.name] = plant(t, at.lacks, "policy:\n  mode: "+at.mode+"\n  "+calls+"\n")
	}
	wantRows(t, whole)
	known := map[string]bool{} // rows by which something was seen
	for _, runs := range []bool{false, true} {
		for _, at := range stands {
			other := others[at.name]
			alike := stand{path: "/mcp"}
			for _, era := range []string{"modern", "legacy"} {
				for _, way := range waysIn {
					rest := strings.HasPrefix(way.key, "rest:")
					if way.runs != runs || rest && (era == "legacy" || strings.Contains(at.name, "only")) || way.key == "method:resources/subscribe" && era == "modern" || way.key == "tool:install_skill" && at.mode == "read-only" { // whose refusal says why it is read-only
						continue
					}
					unknown := whole.ask(era, at, way, "qxzvwk", "qxzvwkword")
					for _, s := range grove {
						got, want := whole.ask(era, at, way, s.name, s.word), other.ask(era, alike, way, s.name, s.word)
						if got != want {
							t.Errorf("%s, %s, %s %s about %s:\n got %s\nwant %s", at.name, era, way.key, way.params, s.name, excerpt(got, want), excerpt(want, got))
						}
						lacks := slices.Contains(at.lacks, s.name)
						same := strings.NewReplacer(strings.ReplaceAll(s.name, "/", "__"), "qxzvwk", strings.ReplaceAll(s.name, "/", "%2F"), "qxzvwk", s.name, "qxzvwk", s.word, "qxzvwkword").Replace(got) == unknown
						if !lacks && !same {
							known[way.key+way.params] = true
						}
						for _, word := range words(at.lacks...) {
							if strings.Contains(got, word) && !strings.Contains(way.params, "WORD") {
								t.Errorf("%s, %s: %s about %s tells of %s", at.name, era, way.key, s.name, word)
							}
						}
						if way.lists {
							break // they are all alike
						}
					}
				}
			}
		}
	}
	for _, way := range waysIn {
		if !known[way.key+way.params] && !way.fails && !way.lists && !slices.Contains([]string{"tool:list_plugins", "tool:reload_skills", "method:resources/templates/list", "rest:listPlugins"}, way.key) {
			t.Errorf("no skill makes a difference to %s %s", way.key, way.params)
		}
	}
}

// excerpt returns the part of a text where it begins to differ from another.
func excerpt(text, other string) string {
	i := 0
	for i < min(len(text), len(other)) && text[i] == other[i] {
		i++
	}
	return text[max(0, i-200):min(len(text), i+400)]
}

// wantRows checks that each tool, each capability and each operation that the server
// advertises has a row.
func wantRows(t *testing.T, f *forest) {
	t.Helper()
	has := func(key string) bool { return slices.ContainsFunc(waysIn, func(w wayIn) bool { return w.key == key }) }
	decode := func(text string, into any) {
		t.Helper()
		_, text, _ = strings.Cut(text, " ")
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	decode(f.ask("modern", stands[0], wayIn{key: "method:tools/list", params: `{}`}, "", ""), &list)
	of := func(tool string) bool {
		return slices.ContainsFunc(grove, func(s struct{ name, folder, word, fields string }) bool {
			return tool == strings.ReplaceAll(s.name, "/", "__")
		})
	}
	for _, tool := range list.Result.Tools {
		if !of(tool.Name) && !has("tool:"+tool.Name) {
			t.Errorf("the tool %s has no row", tool.Name)
		}
	}
	var discovered struct {
		Result struct {
			Capabilities map[string]json.RawMessage
		}
	}
	decode(f.ask("modern", stands[0], wayIn{key: "method:server/discover", params: `{}`}, "", ""), &discovered)
	var extensions map[string]json.RawMessage
	if own := discovered.Result.Capabilities["extensions"]; own != nil {
		if err := json.Unmarshal(own, &extensions); err != nil {
			t.Fatal(err)
		}
	}
	delete(discovered.Result.Capabilities, "extensions")
	maps.Copy(discovered.Result.Capabilities, extensions)
	if len(discovered.Result.Capabilities) < 5 {
		t.Errorf("the server has the capabilities %v", discovered.Result.Capabilities)
	}
	for capability := range discovered.Result.Capabilities {
		methods, told := methodsOf[capability]
		if !told {
			t.Errorf("the capability %s has no rows", capability)
		}
		for _, method := range methods {
			if !has("method:" + method) {
				t.Errorf("the method %s has no row", method)
			}
		}
	}
	var document struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	decode(f.send("GET", "/v1/openapi.json", ""), &document)
	for path, methods := range document.Paths {
		for method, operation := range methods {
			if id := operation.OperationID; id != "" && !has("rest:"+id) && !slices.Contains(elsewhere, id) {
				t.Errorf("%s %s (%s) has no row", method, path, id)
			}
		}
	}
	if len(document.Paths) == 0 || len(list.Result.Tools) < 10 {
		t.Errorf("%d paths, %d tools", len(document.Paths), len(list.Result.Tools))
	}
}

// A profile that does not exist, another's, and a header that disagrees are refused, and the
// sessions of one view are not known in another.
func TestViewsChoice(t *testing.T) {
	f := plant(t, nil, "policy: {profiles: {north: {deny: [birch]}, south: {deny: [ash]}}}\n")
	list := wayIn{key: "method:tools/list", params: `{}`}
	for _, test := range []struct {
		path   string
		header string
		want   string
	}{
		{"/mcp/p/north", "", "200 "},
		{"/mcp/p/north", "north", "200 "},
		{"/mcp/p/north", "south", "400 "},
		{"/mcp/p/east", "", "404 there is no profile \"east\" for you"},
		{"/mcp/p/east/readonly", "", "404 there is no profile \"east\" for you"},
		{"/mcp", "east", "404 there is no profile \"east\" for you"},
		{"/mcp/p/", "", "404 "},
	} {
		headers := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"}
		if test.header != "" {
			headers = append(headers, "Skills-Profile: "+test.header)
		}
		if got := f.send("POST", test.path, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`, headers...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s with %q: %s", test.path, test.header, got[:min(len(got), 200)])
		}
	}
	for _, other := range []string{"/mcp", "/mcp/p/south", "/mcp/p/north/readonly"} {
		f.sessions[other] = f.session("/mcp/p/north")
		if got := f.ask("legacy", stand{path: other}, list, "", ""); !strings.HasPrefix(got, "404 ") {
			t.Errorf("a session of north at %s: %s", other, got[:min(len(got), 200)])
		}
	}
}

// A change of a skill that does not exist in a view sends no notice there.
func TestViewsNotices(t *testing.T) {
	f := plant(t, nil, "policy: {profiles: {north: {deny: [birch]}, south: {deny: [ash]}}}\n")
	listen := func(path string) *bufio.Scanner {
		body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["skill://ash/notes.md","skill://birch/notes.md"]},` + modernMeta + `}}`
		response := lab.Request(t, http.MethodPost, f.url+path, strings.NewReader(body), "Content-Type: application/json", "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
		return bufio.NewScanner(response.Body)
	}
	next := func(s *bufio.Scanner) string {
		t.Helper()
		for s.Scan() {
			if data, is := strings.CutPrefix(s.Text(), "data: "); is && data != "" {
				return data
			}
		}
		t.Fatalf("the stream ended: %v", s.Err())
		return ""
	}
	north, south := listen("/mcp/p/north"), listen("/mcp/p/south")
	for _, s := range []*bufio.Scanner{north, south} {
		if got := next(s); !strings.Contains(got, "acknowledged") {
			t.Fatalf("first: %s", got)
		}
	}
	edit := func(name, what string) {
		lab.WriteFile(t, filepath.Join(f.root, "skills", name, what), "---\nname: "+name+"\ndescription: Changed.\n---\nChanged.\n")
	}
	edit("birch", "notes.md")
	edit("birch", "SKILL.md")
	if got := next(south); !strings.Contains(got, "changed") && !strings.Contains(got, "birch") {
		t.Errorf("south: %s", got)
	}
	edit("ash", "notes.md")
	for {
		got := next(north)
		if strings.Contains(got, "birch") || strings.Contains(got, "list_changed") {
			t.Errorf("north: %s", got)
		}
		if strings.Contains(got, "ash/notes.md") {
			break
		}
	}
}

// TestViewsScopes asks by each way in with tokens of two scopes: only one that may run calls
// skills, and each is kept to its own profiles.
func TestViewsScopes(t *testing.T) {
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.NativeAccount(t, "tools: {run_code: true, kept_sandboxes: true, match_skills: true}\nexpose: {max_tools: 3}\npolicy: {profiles: {north: {deny: [birch]}, south: {deny: [ash]}}}\n")
	for _, name := range []string{"ash", "birch", "caller"} {
		a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Handles trees.\nscript: run.sh\nclass: safe\nparams:\n  tree: {type: string}\n---\n")
		a.Skill(name+"/run.sh", "#!/bin/sh\necho ran\n")
	}
	tokens := map[string]string{}
	for name, profiles := range map[string][]string{"reader": {"north"}, "runner": {"north", "south"}} {
		args := []string{"token", "add", name, "--scope", map[string]string{"reader": "read", "runner": "run"}[name]}
		for _, p := range profiles {
			args = append(args, "--profile", p)
		}
		out, code := a.Run(args...)
		found := regexp.MustCompile(`\bsmcp_[A-Za-z0-9_-]+`).FindString(out)
		if code != 0 || found == "" {
			t.Fatalf("%d: %s", code, out)
		}
		tokens[name] = found
	}
	server := a.Listens("127.0.0.1:0")
	as := func(name string) *forest {
		return &forest{t: t, url: server.Address, root: a.Home, sessions: map[string]string{}, headers: []string{"Authorization: Bearer " + tokens[name]}}
	}
	reader, runner := as("reader"), as("runner")
	north, south := stands[1], stands[2]
	allowed, refused := 0, 0
	for _, era := range []string{"modern", "legacy"} {
		for _, way := range waysIn {
			if strings.HasPrefix(way.key, "rest:") && era == "legacy" || way.key == "method:resources/subscribe" && era == "modern" || way.fails {
				continue
			}
			needs := way.runs || way.key == "method:prompts/get" || way.key == "tool:reload_skills"
			got := reader.ask(era, north, way, "ash", "okapiroot")
			if forbidden := strings.HasPrefix(got, "403 "); forbidden != needs {
				t.Errorf("%s, %s %s with the scope read: %s", era, way.key, way.params, excerpt(got, ""))
			} else if forbidden {
				refused++
			}
			if got := runner.ask(era, north, way, "ash", "okapiroot"); strings.HasPrefix(got, "403 ") {
				t.Errorf("%s, %s with the scope run: %s", era, way.key, excerpt(got, ""))
			} else {
				allowed++
			}
		}
	}
	if refused < 10 || allowed < 40 {
		t.Errorf("%d refused, %d allowed", refused, allowed)
	}
	list := wayIn{key: "method:tools/list", params: `{}`}
	foreign := reader.ask("modern", south, list, "", "")
	missing := reader.ask("modern", stand{path: "/mcp/p/south2"}, list, "", "")
	if !strings.HasPrefix(foreign, "404 ") || foreign != strings.ReplaceAll(missing, "south2", "south") {
		t.Errorf("another's profile: %s; one that is missing: %s", foreign, missing)
	}
	if got := runner.ask("modern", south, list, "", ""); !strings.HasPrefix(got, "200 ") || strings.Contains(got, `"name":"ash"`) {
		t.Errorf("its second profile: %s", excerpt(got, ""))
	}
	if got := runner.ask("modern", stands[0], list, "", ""); !strings.HasPrefix(got, "200 ") || strings.Contains(got, `"name":"birch"`) {
		t.Errorf("its first profile, by default: %s", excerpt(got, ""))
	}
}

// A profile that another process changes counts at once, and one that is removed is not found
// any more, and ends its streams.
func TestViewsRemoved(t *testing.T) {
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.NativeAccount(t, "")
	for _, name := range []string{"ash", "birch"} {
		a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Handles trees.\n---\nInstructions.\n")
	}
	profile := func(args ...string) {
		t.Helper()
		if screen, code := a.Terminal("yes", append([]string{"profile"}, args...)...); code != 0 {
			t.Fatalf("%v: %s", args, screen)
		}
	}
	profile("add", "east", "--deny", "birch")
	f := &forest{t: t, url: a.Listens("127.0.0.1:0", "--no-token").Address, root: a.Home, sessions: map[string]string{}}
	east, get := stand{path: "/mcp/p/east"}, wayIn{key: "tool:get_skill", params: `{"name":"NAME"}`}
	is := func(name string, exists bool) {
		t.Helper()
		if got := f.ask("modern", east, get, name, ""); strings.Contains(got, "NOT_FOUND") == exists {
			t.Errorf("%s: %s", name, got[:min(len(got), 300)])
		}
	}
	is("ash", true)
	is("birch", false)
	profile("set", "east", "--deny", "ash")
	is("ash", false)
	is("birch", true)
	session := f.session(east.path)
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	stream := lab.Request(t, http.MethodPost, f.url+east.path, strings.NewReader(body), "Content-Type: application/json", "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
	if stream.StatusCode != http.StatusOK {
		t.Fatal(stream.Status)
	}
	profile("rm", "east")
	if _, err := io.Copy(io.Discard, stream.Body); err != nil { // until it ends
		t.Logf("the stream: %v", err)
	}
	if got := f.ask("modern", east, get, "ash", ""); !strings.HasPrefix(got, "404 ") {
		t.Errorf("then: %s", got)
	}
	profile("add", "east", "--deny", "birch")
	is("ash", true) // by a new view, with no session of the old one
	if got := f.send("POST", east.path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id: "+session); !strings.HasPrefix(got, "404 ") {
		t.Errorf("a session of the view before: %s", got[:min(len(got), 300)])
	}
}
