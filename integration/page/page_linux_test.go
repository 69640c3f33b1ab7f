package page

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// screenshots has the screens photographed into docs/page, by TestPageScreens alone:
//
//	go test ./integration/page -run 'TestPageScreens$' -screenshots
var screenshots = flag.Bool("screenshots", false, "write the screenshots of the page in docs/page anew")

// A call that is refused until a person says yes is approved with one click, and its
// repetition succeeds. The list of approvals is open, and shows the question by itself.
func TestPageApproves(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	v := a.Visit()
	v.Click(`nav a[href="/ui/approvals"]`)
	v.Says("No call waits for your answer")
	// A click in the moment in which the button comes was meant for what was there before.
	v.Await(`void new MutationObserver(() => {
		const button = document.querySelector('[id^="once-"]');
		if (button && !window.came) { window.came = performance.now(); button.click(); }
	}).observe(document.body, {childList: true, subtree: true}) === undefined`)
	c := a.Serve("legacy", `{}`)
	began := time.Now()
	id := c.Waits(c.Call("note", lab.Text("bought milk")))
	v.Await(fmt.Sprintf(`document.querySelector("#once-%s") !== null`, id))
	v.Says("bought milk")
	v.Says("press once more")
	v.Await(`performance.now() - window.came > 600`)
	v.Click("#once-" + id)
	v.Await(fmt.Sprintf(`document.querySelector("#once-%s") === null`, id))
	c.Succeeds(c.Call("note", lab.Text("bought milk")), "wrote")
	t.Logf("from the refused call to its approved repetition: one click, %v", time.Since(began).Round(time.Millisecond))
	a.Wrote(1)
	c.Waits(c.Call("note", lab.Text("bought milk"))) // once is once
	v.Show("/ui/approvals/" + id)
	v.Says("the same")
}

// A question that begins to wait is counted in the title and in the navigation of every open
// screen, and a hidden one notifies the person, if the browser may.
func TestPageNotices(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	v := a.Visit()
	v.Show("/ui/runs")
	v.Await(`!document.title.startsWith("(") && (window.notices = [], window.Notification = class {
		static permission = "granted";
		constructor(title, {body}) { window.notices.push(title + ": " + body); }
	}, true)`)
	c := a.Serve("legacy", `{}`)
	id := c.Waits(c.Call("note", lab.Text("bought milk")))
	v.Await(`document.title.startsWith("(1) ") && document.querySelector("#nav-approvals").dataset.waiting.trim() === "` + id + `"`)
	v.Await(`window.notices.length === 0`) // who sees the page needs no notice
	v.Await(`Object.defineProperty(document, "hidden", {configurable: true, get: () => true}) === document`)
	c.Waits(c.Call("note", lab.Text("bought bread")))
	v.Await(`document.title.startsWith("(2) ") && window.notices.join() === "skills-mcp: note waits for your yes"`)
	a.Deny(id)
	v.Await(`document.title.startsWith("(1) ") && window.notices.length === 1`)
}

// A client that opens links gets one to the question, which names the call, and no key.
func TestPageIsLinked(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	v := a.Visit()
	c := a.Serve("legacy", `{"elicitation":{"url":{}}}`)
	asked := c.Call("note", lab.Text("bought bread"))
	if asked.Asked == nil {
		t.Fatalf("it asks nothing: %s", asked.Text())
	}
	var link struct{ URL string }
	c.Decode(asked.Params, &link)
	if !strings.HasPrefix(link.URL, v.Origin+"/ui/approvals/") || strings.Contains(link.URL, "?") {
		t.Fatalf("the link is %s", link.URL)
	}
	v.Open(link.URL)
	v.Click(`button[value="once"]`)
	c.Succeeds(c.Answer(asked, `{"action":"accept"}`), "wrote")
}

// screens are the paths of all screens of a furnished account, by their name in docs/page.
func screens(run string) []struct{ name, path string } {
	return []struct{ name, path string }{
		{"skills", "/ui/"}, {"skill", "/ui/skills/report"}, {"try", "/ui/skills/report/try"},
		{"approvals", "/ui/approvals"}, {"secrets", "/ui/secrets"}, {"grant", "/ui/secrets/grant?skill=issues&name=GITHUB_TOKEN"}, {"runs", "/ui/runs"}, {"run", "/ui/runs/" + run},
		{"profiles", "/ui/profiles"}, {"profile", "/ui/profiles/team"}, {"sources", "/ui/sources"}, {"clients", "/ui/clients"}, {"doctor", "/ui/doctor"}, {"settings", "/ui/settings"},
	}
}

// Every screen fits a phone, a desk and a wide one, light and dark, and axe-core finds
// nothing in the first two.
func TestPageScreens(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.AccountAt(t, model(t), "native", "policy: {skills: {weather: {secrets: [{name: WEATHER_KEY, hosts: [api.example.com], header: X-Api-Key}, {name: SIGNING_KEY, plain: true}]}}}\n")
	a.NoteSkill("note")
	run := a.Furnish()
	a.Keeps()
	v := a.Visit()
	v.Show("/ui/doctor")
	v.Click("main form .button-primary")
	v.Says("verdict")
	v.Show("/ui/profiles")
	v.Focus("#name")
	v.Press("team\r")
	v.At("/ui/profiles/team")
	v.Enter(`main button[value="first"]`)
	v.Says("place 1")
	v.Enter(`main button[value="deny"]`)
	v.Says("does not exist")
	for _, s := range screens(run) {
		v.Show(s.path)
		v.At(strings.Split(s.path, "?")[0])
		for _, width := range []int64{360, 1280, 1920} {
			for _, scheme := range []string{"light", "dark"} {
				v.Size(width, 900, scheme)
				if wide := lab.Value[float64](v.Browser, "document.documentElement.scrollWidth"); wide > float64(width) {
					t.Errorf("%s is %v pixels wide in a window of %d", s.name, wide, width)
				}
				v.Unscrolled(s.name)
				if width < 1920 {
					v.Accessible()
				}
				if t.Failed() {
					t.Fatalf("in the screen %s, at %d pixels, %s", s.name, width, scheme)
				}
				if *screenshots && width < 1920 {
					v.Keep(fmt.Sprintf("%s-%d-%s.webp", s.name, width, scheme))
				}
			}
		}
	}
}

// model returns a home folder. That of screenshots is a person's, who has two clients and
// the program in their own folder.
func model(t *testing.T) string {
	t.Helper()
	if !*screenshots {
		return t.TempDir()
	}
	const home = "/home/ann"
	if _, err := os.Stat(home); err == nil {
		t.Fatalf("%s is there already", home)
	}
	program, err := os.ReadFile(lab.Binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for _, dir := range []string{".cursor", ".codex", ".local/bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lab.Binary = filepath.Join(home, ".local/bin/skills-mcp") // of this test alone: no other runs
	if err := os.WriteFile(lab.Binary, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return home
}

// A person without a mouse reaches every control, searches, disables a skill, answers a
// question and tries a skill.
func TestPageByKeyboard(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Furnish()
	v := a.Visit()
	v.Size(1280, 900, "light")

	v.Focus(`input[type="search"]`)
	v.Press("report sales")
	v.Await(`document.querySelectorAll("#results tbody tr, #results li, #results article").length > 0 && !document.querySelector("#results").innerText.includes("letters of this house")`)

	v.Show("/ui/approvals")
	v.Enter(`button[value="once"]`)
	v.Says("the same call succeeds once")

	v.Show("/ui/skills/report/try")
	v.Focus(`[name="p.month"]`)
	v.Press("2026-10\r")
	v.Says("1250")
}

// hostile is a text that runs a script wherever it is taken for markup.
const hostile = "<img src=x onerror=canary()><script>canary()</script>\u202e\"'><svg onload=canary()>javascript:canary()"

// Nothing of a skill runs a script in the page: names, texts, Markdown, arguments,
// questions, outputs. Files that it leaves are not of the page's origin.
func TestPageRunsNothingOfSkills(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	yaml := strconv.Quote(hostile)
	a.Skill("evil/SKILL.md", "---\nname: evil\ndescription: "+yaml+"\nwhen_to_use: "+yaml+"\ncategory: "+yaml+"\nmetadata: {author: "+yaml+"}\nscript: run.sh\nparams:\n  text: {type: string, description: "+yaml+", default: "+yaml+"}\n---\n# "+hostile+"\n\n"+hostile+
		"\n\n[a](javascript:canary()) ![b](javascript:canary()) <a href='javascript:canary()'>c</a> <iframe srcdoc='<script>parent.canary()</script>'></iframe> <form action=/ui/signout method=post><button>x</button></form> <base href=//example.com> <meta http-equiv=refresh content='0;url=//example.com'>\n\n```html\n"+hostile+"\n```\n")
	a.Skill("evil/run.sh", `printf '%s\n' '`+strings.ReplaceAll(hostile, "'", "")+`' >&2
printf '{"<img src=x onerror=canary()>": "<script>canary()</script>"}'
printf '<script>document.title="ran"; parent.canary()</script>' > /out/page.html
printf '<svg xmlns="http://www.w3.org/2000/svg" onload="canary()"><script>document.title="ran"; parent.canary()</script></svg>' > /out/image.svg
printf 'x' > '/out/<img src=x onerror=canary()>.txt'
`)
	a.Skill("evil/"+`<img src=x onerror=canary()>`+"/x.md", hostile)
	c := a.Serve("legacy", `{}`)
	_ = c.Call("evil", map[string]any{"text": hostile})
	c.Waits(c.Call("note", lab.Text(hostile)))
	v := a.Visit()
	v.Watch()
	for _, path := range []string{"/ui/", "/ui/?q=" + url.QueryEscape(hostile), "/ui/skills/evil", "/ui/skills/evil/try", "/ui/approvals", "/ui/runs", "/ui/settings", "/ui/sources", "/ui/skills/" + url.PathEscape(hostile)} {
		v.Show(path)
	}
	v.Show("/ui/skills/evil/try")
	v.Click("form.card button.button-primary")
	v.Await(`location.pathname.startsWith("/ui/jobs/")`)
	v.Says("page.html")
	links := lab.Value[[]string](v.Browser, `[...document.querySelectorAll("a[href], iframe[src], img[src]")].map(e => e.href || e.src).filter(u => u.includes("/out/"))`)
	if len(links) < 3 {
		t.Fatalf("the outputs are %q\n%s", links, v.Seen())
	}
	v.Accessible()
	for _, link := range links {
		v.Opens(link)
	}
	v.Silent()
}

// All but the live parts works in a browser without script.
func TestPageWithoutScript(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Furnish()
	v := a.Visit()
	v.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	v.Show("/ui/")
	v.Do(chromedp.SendKeys(chromedp.CSS("#q"), "letters house\r"))
	v.Await(`location.search.includes("letters")`) // the list before it says the same
	v.Says("How letters of this house are written")
	v.Show("/ui/approvals")
	v.Click(`button[value="once"]`)
	v.Says("the same call succeeds once")
	v.Show("/ui/skills/report/try")
	v.Do(chromedp.SendKeys(chromedp.CSS(`[name="p.month"]`), "soon\r"))
	v.Says("Some values are wrong")
	v.Do(chromedp.SetValue(chromedp.CSS(`[name="p.month"]`), "2026-10"))
	v.Click("form.card button.button-primary")
	v.Await(`location.pathname.startsWith("/ui/jobs/")`)
	for !lab.Value[bool](v.Browser, `document.body.innerText.includes("1250")`) {
		v.Do(chromedp.Reload())
	}
}
