package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// Of many skills, a client sees the ones that the workspace has files for, and
// reaches the others by name. It hears of changes of that.
func TestExposure(t *testing.T) {
	t.Parallel()
	dir, workspace := t.TempDir(), t.TempDir()
	write := func(name, front string) {
		lab.WriteFile(t, filepath.Join(dir, name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is one of many.\n"+front+"---\nHello from "+name+".\n")
	}
	for i := range 60 {
		write(fmt.Sprintf("skill-%02d", i), "")
	}
	write("for-go", "paths: ['**/*.go']\n")
	write("for-rust", "paths: ['**/*.rs']\n")
	lab.WriteFile(t, filepath.Join(workspace, "src", "main.go"), "package main\n")
	c := lab.Connect(t, "native", "--skills", dir, "--workspace", workspace)
	until := func(what string, there func() bool) {
		t.Helper()
		for !there() {
			select {
			case <-c.Changes:
			case <-time.After(lab.Patience):
				t.Fatalf("%s, and no notice came", what)
			}
		}
	}
	// The workspace is looked at beside the start.
	until("the workspace has files for a skill", func() bool {
		_, ok := c.Tools()["for-go"]
		return ok
	})
	tools := c.Tools()
	for name, want := range map[string]bool{"for-go": true, "for-rust": true, "skill-00": true, "skill-59": false, "run_skill": true} {
		if _, ok := tools[name]; ok != want {
			t.Errorf("tool %s: %t", name, ok)
		}
	}
	if got := tools["search_skills"].Description; !strings.Contains(got, "Skills without a tool of their own (25):") {
		t.Errorf("search_skills does not tell of the others: %s", got)
	}
	if text, result := c.Call("load_skill", map[string]any{"name": "skill-59"}); result.IsError || !strings.Contains(text, "Hello from skill-59.") {
		t.Errorf("load_skill: %s", text)
	}

	// A new skill is told, though it has no tool.
	write("new", "")
	until("a skill is new", func() bool { return strings.Contains(c.Tools()["search_skills"].Description, "(26):") })
}

// A client on another machine is told the URI of a skill's folder, and no path of this one.
func TestPlacesElsewhere(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	lab.WriteFile(t, filepath.Join(home, ".claude", "skills", "near", "SKILL.md"), "---\nname: near\ndescription: Is near.\n---\nRead ${CLAUDE_SKILL_DIR}/notes.md.\n")
	lab.WriteFile(t, filepath.Join(home, ".claude", "skills", "broken", "SKILL.md"), "---\nname: [\n---\n")
	base, stop := lab.ServeHTTP(t, []string{"HOME=" + home})
	t.Cleanup(func() { stop() })
	for from, folder := range map[string]string{"X-Other: 1": filepath.Join(home, ".claude", "skills", "near"), "X-Forwarded-For: 192.0.2.7": "skill://near"} {
		session := "Mcp-Session-Id: " + post(t, base+"/mcp", initialize, from).Header.Get("Mcp-Session-Id")
		ask := func(method, params string) string {
			t.Helper()
			body, err := io.ReadAll(post(t, base+"/mcp", askRequest(1, method, params, false), session, from).Body)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(folder, "skill:") && strings.Contains(string(body), home) {
				t.Errorf("%s %s tells a path: %s", method, params, body)
			}
			return string(body)
		}
		if answer := ask("tools/call", `"name":"load_skill","arguments":{"name":"near"}`); !strings.Contains(answer, "Base directory for this skill: "+folder+`\n`) || !strings.Contains(answer, "Read "+folder+"/notes.md") {
			t.Errorf("want %s in %s", folder, answer)
		}
		if answer := ask("prompts/get", `"name":"near"`); !strings.Contains(answer, "Read "+folder+"/notes.md") {
			t.Errorf("want %s in %s", folder, answer)
		}
		ask("tools/call", `"name":"get_skill","arguments":{"name":"near"}`)
		ask("tools/call", `"name":"list_skills","arguments":{}`)
		if answer := ask("tools/call", `"name":"reload_skills","arguments":{}`); !strings.Contains(answer, "broken/SKILL.md:") {
			t.Errorf("the problem is lost: %s", answer)
		}
	}
}

// A client gets skills as tools, as skills, or as both: by its name in the configuration, or
// as skills if it says that it knows them. Each SKILL.md has the digest that its listing says.
func TestClientForms(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	skills := filepath.Join(home, ".claude", "skills")
	text := map[string]string{}
	for name, more := range map[string]string{"plain": "", "worker": "Run scripts/work.sh.\n", "odd": ""} {
		text[name] = "---\nname: " + name + "\ndescription: Is one.\n---\nText.\n" + more
		lab.WriteFile(t, filepath.Join(skills, name, "SKILL.md"), text[name])
	}
	lab.WriteFile(t, filepath.Join(skills, "odd", "SKILL.md"), "---\nname: odd\ndescription: Is one.\nmetadata: {version: 1}\n---\n")
	lab.WriteFile(t, filepath.Join(skills, "worker", "scripts", "work.sh"), "#!/bin/sh\n# Usage: work.sh NAME\necho \"$1\"\n")
	lab.WriteFile(t, filepath.Join(home, "forms.yaml"), "expose: {as: {one: tools, two: skills, three: both}}\n")
	base, stop := lab.ServeHTTP(t, []string{"HOME=" + home}, "--config", filepath.Join(home, "forms.yaml"))
	t.Cleanup(func() { stop() })
	const native = `{"extensions":{"io.modelcontextprotocol/skills":{}}}`
	for _, test := range []struct{ client, can, tools, listed, note string }{
		{"one", native, "odd plain worker worker__work", "", ""},
		{"two", `{}`, "odd worker__work", "plain worker", "worker__work runs scripts/work.sh"},
		{"three", native, "odd plain worker worker__work", "plain worker", ""},
		{"other", `{}`, "odd plain worker worker__work", "plain worker", ""},
		{"host", native, "odd worker__work", "plain worker", "worker__work runs scripts/work.sh"},
	} {
		for _, modern := range []bool{false, true} {
			info := fmt.Sprintf(`{"name":%q,"version":"1"}`, test.client)
			hello := post(t, base+"/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+test.can+`,"clientInfo":`+info+`}}`)
			ask := func(method, params, named string, into any) {
				t.Helper()
				headers := []string{"Mcp-Session-Id: " + hello.Header.Get("Mcp-Session-Id")}
				if modern {
					params = strings.TrimSuffix(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+test.can+`,"io.modelcontextprotocol/clientInfo":`+info+`},`+params, ",")
					headers = []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method, "Mcp-Name: " + named}[:2+min(1, len(named))]
				}
				answer := struct{ Result any }{into}
				if err := json.NewDecoder(post(t, base+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params), headers...).Body).Decode(&answer); err != nil {
					t.Fatal(err)
				}
			}
			var tools struct{ Tools []struct{ Name string } }
			ask("tools/list", "", "", &tools)
			var names []string
			for _, tool := range tools.Tools {
				if slices.Contains([]string{"odd", "plain", "worker", "worker__work"}, tool.Name) {
					names = append(names, tool.Name)
				}
			}
			slices.Sort(names)
			var list struct {
				Skills []struct {
					URI       string
					Resources []struct{ URI, Digest string }
				}
			}
			ask("skills/list", "", "", &list)
			var listed []string
			for _, skill := range list.Skills {
				name := path.Base(path.Dir(skill.URI))
				if text[name] == "" {
					continue // of the samples
				}
				listed = append(listed, name)
				var read struct{ Contents []struct{ Text string } }
				ask("resources/read", fmt.Sprintf(`"uri":%q`, skill.URI), skill.URI, &read)
				got := read.Contents[0].Text
				sum := sha256.Sum256([]byte(got))
				if digest := "sha256:" + hex.EncodeToString(sum[:]); digest != skill.Resources[0].Digest {
					t.Errorf("%s, modern %v: %s has the digest %s, and its listing says %s", test.client, modern, name, digest, skill.Resources[0].Digest)
				}
				note, whole := strings.CutPrefix(got, text[name])
				if want := name == "worker" && test.note != ""; !whole || (note != "") != want || want && !strings.Contains(note, test.note) {
					t.Errorf("%s, modern %v: %s is %q", test.client, modern, name, got)
				}
			}
			if tools, skills := strings.Join(names, " "), strings.Join(listed, " "); tools != test.tools || skills != test.listed {
				t.Errorf("%s, modern %v: tools %q and skills %q, want %q and %q", test.client, modern, tools, skills, test.tools, test.listed)
			}
		}
	}
}

// An asker sends a request and returns the answer as JSON.
type asker func(t *testing.T, method, params string) string

// askStdio starts a server on standard input and output for a client of a generation.
func askStdio(t *testing.T, home string, modern bool) asker {
	t.Helper()
	s, n := startIn(t, home, "native"), 100
	t.Cleanup(func() { s.stdin.Close() })
	return func(t *testing.T, method, params string) string {
		t.Helper()
		n++
		s.send(askRequest(n, method, params, modern))
		for s.lines.Scan() {
			if strings.Contains(s.lines.Text(), fmt.Sprintf(`"id":%d`, n)) {
				return s.lines.Text()
			}
		}
		t.Fatalf("%s: no answer: %v", method, s.lines.Err())
		return ""
	}
}

// askHTTP starts a server of HTTP for a client of a generation.
func askHTTP(t *testing.T, home string, modern bool) asker {
	t.Helper()
	base, stop := lab.ServeHTTP(t, nil, "--config", filepath.Join(home, "config.yaml"))
	t.Cleanup(func() { stop() })
	url := base + "/mcp"
	var session string
	if !modern {
		session = "Mcp-Session-Id: " + post(t, url, initialize).Header.Get("Mcp-Session-Id")
	}
	return func(t *testing.T, method, params string) string {
		t.Helper()
		headers := []string{session}
		if modern {
			headers = []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
			if _, rest, named := strings.Cut(params, `"name":"`); named {
				name, _, _ := strings.Cut(rest, `"`)
				headers = append(headers, "Mcp-Name: "+name)
			}
		}
		body, err := io.ReadAll(post(t, url, askRequest(1, method, params, modern), headers...).Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
}

// askRequest returns a request; params are the members of its object.
func askRequest(id int, method, params string, modern bool) string {
	if modern {
		params = strings.TrimSuffix(`"_meta":{`+modernMeta+`},`+params, ",")
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
}

// TestToolInUse adds the 41st skill to 40 tools, removes skills and starts the server again, while
// a client goes on with the tools that it was shown: they answer, and none is lost.
func TestToolInUse(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T, home string, modern bool) asker{"stdio": askStdio, "http": askHTTP} {
		for generation, modern := range map[string]bool{"legacy": false, "modern": true} {
			t.Run(name+" "+generation, func(t *testing.T) {
				home := t.TempDir()
				write := func(name string) {
					lab.WriteFile(t, filepath.Join(home, "skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is one of many.\n---\nHello from "+name+".\n")
				}
				for i := range 40 {
					write(fmt.Sprintf("skill-%02d", i))
				}
				lab.WriteFile(t, filepath.Join(home, "config.yaml"), "skills: [skills]\nroots: {session: false, user: false, system: false, samples: false}\n")
				ask := start(t, home, modern)
				answers := func(tool string) {
					t.Helper()
					if got := ask(t, "tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, tool)); !strings.Contains(got, "Hello from "+tool) {
						t.Errorf("%s: %s", tool, got)
					}
				}
				listed := func() int { return strings.Count(ask(t, "tools/list", ""), `"name":"skill-`) }
				if got := listed(); got != 40 {
					t.Fatalf("%d tools", got)
				}
				answers("skill-39")
				write("a-new-one")
				ask(t, "tools/call", `"name":"reload_skills","arguments":{}`)
				if got := listed(); got != 40 {
					t.Errorf("%d of 40 tools stay", got)
				}
				answers("skill-39")
				answers("a-new-one")
				if err := os.RemoveAll(filepath.Join(home, "skills", "skill-00")); err != nil {
					t.Fatal(err)
				}
				if got := ask(t, "tools/call", `"name":"skill-00","arguments":{}`); !strings.Contains(got, "NOT_FOUND") {
					t.Errorf("a removed skill: %s", got)
				}
				for i := range 40 { // which come before
					write(fmt.Sprintf("before-%02d", i))
				}
				ask = start(t, home, modern)
				if got := listed(); got > 1 { // skill-39 was used
					t.Errorf("%d tools after a restart", got)
				}
				answers("skill-20")
				if got := ask(t, "tools/call", `"name":"no-such","arguments":{}`); !strings.Contains(got, "-32602") {
					t.Errorf("a tool that never was: %s", got)
				}
			})
		}
	}
}
