package integration

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// screenshots has the screens photographed into docs/page, by TestPageScreens alone:
//
//	go test ./integration -run 'TestPageScreens$' -screenshots
var screenshots = flag.Bool("screenshots", false, "write the screenshots of the page in docs/page anew")

// A visit is a signed-in browser at the page of an account.
type visit struct {
	*browser
	origin string
}

// visit starts the page of an account, and signs a browser in by the link.
func (a *account) visit() *visit {
	a.t.Helper()
	b := newBrowser(a.t) // first, so that it ends after the page
	link := a.page()
	b.open(link)
	u, err := url.Parse(link)
	if err != nil {
		a.t.Fatal(err)
	}
	v := &visit{b, "http://" + u.Host}
	v.at("/ui/")
	return v
}

// show shows a screen.
func (v *visit) show(path string) {
	v.t.Helper()
	v.open(v.origin + path)
}

// at waits for a screen.
func (v *visit) at(path string) {
	v.t.Helper()
	v.await(fmt.Sprintf("location.pathname === %q && document.readyState === 'complete'", path))
}

// A call that is refused until a person says yes is approved with one click, and its
// repetition succeeds. The list of approvals is open, and shows the question by itself.
func TestPageApproves(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	v := a.visit()
	v.click(`nav a[href="/ui/approvals"]`)
	v.says("No call waits for your answer")
	// A click in the moment in which the button comes was meant for what was there before.
	v.await(`void new MutationObserver(() => {
		const button = document.querySelector('[id^="once-"]');
		if (button && !window.came) { window.came = performance.now(); button.click(); }
	}).observe(document.body, {childList: true, subtree: true}) === undefined`)
	c := a.serve("legacy", `{}`)
	began := time.Now()
	id := c.waits(c.call("note", text("bought milk")))
	v.await(fmt.Sprintf(`document.querySelector("#once-%s") !== null`, id))
	v.says("bought milk")
	v.says("press once more")
	v.await(`performance.now() - window.came > 600`)
	v.click("#once-" + id)
	v.await(fmt.Sprintf(`document.querySelector("#once-%s") === null`, id))
	c.succeeds(c.call("note", text("bought milk")), "wrote")
	t.Logf("from the refused call to its approved repetition: one click, %v", time.Since(began).Round(time.Millisecond))
	a.wrote(1)
	c.waits(c.call("note", text("bought milk"))) // once is once
	v.show("/ui/approvals/" + id)
	v.says("the same")
}

// A client that opens links gets one to the question, which names the call, and no key.
func TestPageIsLinked(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	v := a.visit()
	c := a.serve("legacy", `{"elicitation":{"url":{}}}`)
	asked := c.call("note", text("bought bread"))
	if asked.asked == nil {
		t.Fatalf("it asks nothing: %s", asked.text())
	}
	var link struct{ URL string }
	c.decode(asked.Params, &link)
	if !strings.HasPrefix(link.URL, v.origin+"/ui/approvals/") || strings.Contains(link.URL, "?") {
		t.Fatalf("the link is %s", link.URL)
	}
	v.open(link.URL)
	v.click(`button[value="once"]`)
	c.succeeds(c.answer(asked, `{"action":"accept"}`), "wrote")
}

// screens are the paths of all screens of a furnished account, by their name in docs/page.
func screens(run string) []struct{ name, path string } {
	return []struct{ name, path string }{
		{"skills", "/ui/"}, {"skill", "/ui/skills/report"}, {"try", "/ui/skills/report/try"},
		{"approvals", "/ui/approvals"}, {"runs", "/ui/runs"}, {"run", "/ui/runs/" + run},
		{"sources", "/ui/sources"}, {"clients", "/ui/clients"}, {"doctor", "/ui/doctor"}, {"settings", "/ui/settings"},
	}
}

// furnish gives an account skills of several kinds, runs, and a question that waits.
func (a *account) furnish() (run string) {
	a.t.Helper()
	a.skill("report/SKILL.md", `---
name: report
description: Writes a report about the sales of a month, as text or as a table.
when_to_use: When somebody asks how a month went.
script: run.sh
params:
  month: {type: string, required: true, description: "The month, such as 2026-10.", pattern: "^[0-9]{4}-[0-9]{2}$"}
  form: {type: string, enum: [text, table], default: text, description: How the report looks.}
  limit: {type: integer, minimum: 1, maximum: 100, default: 10, description: How many rows it has at most.}
---
# Report

Reads the sales and writes a *report*. It never changes a file.

| column | meaning |
| --- | --- |
| sales | in euros |

1. Check the month.
2. Run the script.

`+"```sh\n./run.sh --month 2026-10\n```\n")
	a.skill("report/run.sh", "echo 'reading the sales' >&2\necho '{\"month\": \"2026-10\", \"sales\": 1250, \"rows\": [{\"item\": \"tea\", \"euros\": 750}, {\"item\": \"milk\", \"euros\": 500}]}'\n")
	a.skill("style/SKILL.md", "---\nname: style\ndescription: How letters of this house are written.\n---\nBe brief.\n")
	a.skill("broken/SKILL.md", "---\nname: broken\ndescription: [this is no text\n---\n")
	a.skill("balance/SKILL.md", "---\nname: balance\ndescription: Says how much is left of a budget.\nscript: run.sh\n---\n")
	a.skill("balance/run.sh", "echo 'there is no budget for 2027' >&2\nexit 4\n")
	c := a.serve("legacy", `{}`)
	c.succeeds(c.call("report", map[string]any{"month": "2026-10"}), "1250")
	c.fails(c.call("report", map[string]any{"month": "soon"}), "INVALID_PARAM")
	c.fails(c.call("run_skill", map[string]any{"name": "balance"}), "exit code 4")
	c.waits(c.call("note", text("ask ann about the invoice")))
	out, code := a.run("runs", "--json", "--outcome", "ok")
	id := runID.FindStringSubmatch(out)
	if code != 0 || id == nil {
		a.t.Fatalf("runs: exit %d\n%s", code, out)
	}
	return id[1]
}

// Every screen fits a phone, a desk and a wide one, light and dark, and axe-core finds
// nothing in the first two.
func TestPageScreens(t *testing.T) {
	t.Parallel()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	a := accountAt(t, model(t), "native", "")
	a.noteSkill("note")
	run := a.furnish()
	v := a.visit()
	v.show("/ui/doctor")
	v.click("main form .button-primary")
	v.says("verdict")
	for _, s := range screens(run) {
		v.show(s.path)
		v.at(strings.Split(s.path, "?")[0])
		for _, width := range []int64{360, 1280, 1920} {
			for _, scheme := range []string{"light", "dark"} {
				v.size(width, 900, scheme)
				if wide := value[float64](v.browser, "document.documentElement.scrollWidth"); wide > float64(width) {
					t.Errorf("%s is %v pixels wide in a window of %d", s.name, wide, width)
				}
				v.unscrolled(s.name)
				if width < 1920 {
					v.accessible()
				}
				if t.Failed() {
					t.Fatalf("in the screen %s, at %d pixels, %s", s.name, width, scheme)
				}
				if *screenshots && width < 1920 {
					v.keep(fmt.Sprintf("%s-%d-%s.webp", s.name, width, scheme))
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
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for _, dir := range []string{".cursor", ".codex", ".local/bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(home, ".local/bin/skills-mcp") // of this test alone: no other runs
	if err := os.WriteFile(binary, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return home
}

// keep writes a screenshot to docs/page.
func (v *visit) keep(name string) {
	v.t.Helper()
	dir := filepath.Join("..", "docs", "page")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), v.screenshot(), 0o644); err != nil {
		v.t.Fatal(err)
	}
}

// A person without a mouse reaches every control, searches, disables a skill, answers a
// question and tries a skill.
func TestPageByKeyboard(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	a.furnish()
	v := a.visit()
	v.size(1280, 900, "light")

	v.focus(`input[type="search"]`)
	v.press("report sales")
	v.await(`document.querySelectorAll("#results tbody tr, #results li, #results article").length > 0 && !document.querySelector("#results").innerText.includes("letters of this house")`)

	v.show("/ui/approvals")
	v.focus(`button[value="once"]`)
	v.press("\r")
	v.says("the same call succeeds once")

	v.show("/ui/skills/report/try")
	v.focus(`[name="p.month"]`)
	v.press("2026-10\r")
	v.says("1250")
}

// focus presses the Tab key until an element that a selector matches has the focus, which
// has to be seen.
func (v *visit) focus(selector string) {
	v.t.Helper()
	v.await(fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q) !== null", selector))
	for range 200 {
		v.press("\t")
		if value[bool](v.browser, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			if !value[bool](v.browser, `(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none"; })()`) {
				v.t.Errorf("the focus on %s is not seen", selector)
			}
			return
		}
	}
	v.t.Fatalf("the Tab key never reaches %s\n%s", selector, v.seen())
}

// press types keys.
func (v *visit) press(keys string) {
	v.t.Helper()
	v.do(chromedp.KeyEvent(keys))
}

var runID = regexp.MustCompile(`"id":\s*"(run-[^"]+)"`)

// hostile is a text that runs a script wherever it is taken for markup.
const hostile = "<img src=x onerror=canary()><script>canary()</script>\u202e\"'><svg onload=canary()>javascript:canary()"

// Nothing of a skill runs a script in the page: names, texts, Markdown, arguments,
// questions, outputs. Files that it leaves are not of the page's origin.
func TestPageRunsNothingOfSkills(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	yaml := strconv.Quote(hostile)
	a.skill("evil/SKILL.md", "---\nname: evil\ndescription: "+yaml+"\nwhen_to_use: "+yaml+"\ncategory: "+yaml+"\nmetadata: {author: "+yaml+"}\nscript: run.sh\nparams:\n  text: {type: string, description: "+yaml+", default: "+yaml+"}\n---\n# "+hostile+"\n\n"+hostile+
		"\n\n[a](javascript:canary()) ![b](javascript:canary()) <a href='javascript:canary()'>c</a> <iframe srcdoc='<script>parent.canary()</script>'></iframe> <form action=/ui/signout method=post><button>x</button></form> <base href=//example.com> <meta http-equiv=refresh content='0;url=//example.com'>\n\n```html\n"+hostile+"\n```\n")
	a.skill("evil/run.sh", `printf '%s\n' '`+strings.ReplaceAll(hostile, "'", "")+`' >&2
printf '{"<img src=x onerror=canary()>": "<script>canary()</script>"}'
printf '<script>document.title="ran"; parent.canary()</script>' > /out/page.html
printf '<svg xmlns="http://www.w3.org/2000/svg" onload="canary()"><script>document.title="ran"; parent.canary()</script></svg>' > /out/image.svg
printf 'x' > '/out/<img src=x onerror=canary()>.txt'
`)
	a.skill("evil/"+`<img src=x onerror=canary()>`+"/x.md", hostile)
	c := a.serve("legacy", `{}`)
	_ = c.call("evil", map[string]any{"text": hostile})
	c.waits(c.call("note", text(hostile)))
	v := a.visit()
	v.watch()
	for _, path := range []string{"/ui/", "/ui/?q=" + url.QueryEscape(hostile), "/ui/skills/evil", "/ui/skills/evil/try", "/ui/approvals", "/ui/runs", "/ui/settings", "/ui/sources", "/ui/skills/" + url.PathEscape(hostile)} {
		v.show(path)
	}
	v.show("/ui/skills/evil/try")
	v.click("form.card button.button-primary")
	v.await(`location.pathname.startsWith("/ui/jobs/")`)
	v.says("page.html")
	links := value[[]string](v.browser, `[...document.querySelectorAll("a[href], iframe[src], img[src]")].map(e => e.href || e.src).filter(u => u.includes("/out/"))`)
	if len(links) < 3 {
		t.Fatalf("the outputs are %q\n%s", links, v.seen())
	}
	v.accessible()
	for _, link := range links {
		v.opens(link)
	}
	v.silent()
}

// watch counts scripts of strangers from now on, in every document.
func (v *visit) watch() {
	v.t.Helper()
	v.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `window.canary = () => { localStorage.setItem("canary", location.href) }`,
		})
		return err
	}))
}

// opens opens a file that a skill left, as far as the browser shows it: most are saved.
func (v *visit) opens(link string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, browserPatience)
	defer cancel()
	_ = chromedp.Do(ctx, chromedp.Navigate(link)) // fails for a file that is saved
	if title := value[string](v.browser, "document.title"); title == "ran" {
		v.t.Errorf("%s ran a script", link)
	}
	if origin := value[string](v.browser, "window.origin"); strings.HasPrefix(value[string](v.browser, "location.href"), link) && origin == v.origin {
		v.t.Errorf("%s has the page's origin", link)
	}
}

// silent fails the test if a script of a stranger has run.
func (v *visit) silent() {
	v.t.Helper()
	v.show("/ui/")
	if where := value[string](v.browser, `localStorage.getItem("canary") || ""`); where != "" {
		v.t.Errorf("a script of a skill ran at %s", where)
	}
	v.do(chromedp.Evaluate[chromedp.Void]("canary()")) // the canary itself sings
	if value[string](v.browser, `localStorage.getItem("canary") || ""`) == "" {
		v.t.Error("the canary does not work")
	}
}

// All but the live parts works in a browser without script.
func TestPageWithoutScript(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, "")
	a.furnish()
	v := a.visit()
	v.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	v.show("/ui/")
	v.do(chromedp.SendKeys(chromedp.CSS("#q"), "letters house\r"))
	v.await(`location.search.includes("letters")`) // the list before it says the same
	v.says("How letters of this house are written")
	v.show("/ui/approvals")
	v.click(`button[value="once"]`)
	v.says("the same call succeeds once")
	v.show("/ui/skills/report/try")
	v.do(chromedp.SendKeys(chromedp.CSS(`[name="p.month"]`), "soon\r"))
	v.says("Some values are wrong")
	v.do(chromedp.SetValue(chromedp.CSS(`[name="p.month"]`), "2026-10"))
	v.click("form.card button.button-primary")
	v.await(`location.pathname.startsWith("/ui/jobs/")`)
	for !value[bool](v.browser, `document.body.innerText.includes("1250")`) {
		v.do(chromedp.Reload())
	}
}
