package lab

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A Visit is a signed-in browser at the page of an account.
type Visit struct {
	*Browser
	Origin string
}

// Visit starts the page of an account, and signs a browser in by the link.
func (a *Account) Visit() *Visit {
	a.T.Helper()
	b := NewBrowser(a.T) // first, so that it ends after the page
	link := a.Page()
	b.Open(link)
	u, err := url.Parse(link)
	if err != nil {
		a.T.Fatal(err)
	}
	v := &Visit{b, "http://" + u.Host}
	v.At("/ui/")
	return v
}

// Show shows a screen.
func (v *Visit) Show(path string) {
	v.t.Helper()
	v.Open(v.Origin + path)
}

// At waits for a screen.
func (v *Visit) At(path string) {
	v.t.Helper()
	v.Await(fmt.Sprintf("location.pathname === %q && document.readyState === 'complete'", path))
}

// Furnish gives an account skills of several kinds, runs, and a question that waits.
func (a *Account) Furnish() (run string) {
	a.T.Helper()
	a.Skill("report/SKILL.md", `---
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
	a.Skill("report/run.sh", "echo 'reading the sales' >&2\necho '{\"month\": \"2026-10\", \"sales\": 1250, \"rows\": [{\"item\": \"tea\", \"euros\": 750}, {\"item\": \"milk\", \"euros\": 500}]}'\n")
	a.Skill("style/SKILL.md", "---\nname: style\ndescription: How letters of this house are written.\n---\nBe brief.\n")
	a.Skill("broken/SKILL.md", "---\nname: broken\ndescription: [this is no text\n---\n")
	a.Skill("balance/SKILL.md", "---\nname: balance\ndescription: Says how much is left of a budget.\nscript: run.sh\n---\n")
	a.Skill("balance/run.sh", "echo 'there is no budget for 2027' >&2\nexit 4\n")
	c := a.Serve("legacy", `{}`)
	c.Succeeds(c.Call("report", map[string]any{"month": "2026-10"}), "1250")
	c.Fails(c.Call("report", map[string]any{"month": "soon"}), "INVALID_PARAM")
	c.Fails(c.Call("run_skill", map[string]any{"name": "balance"}), "exit code 4")
	c.Waits(c.Call("note", Text("ask ann about the invoice")))
	out, code := a.Run("runs", "--json", "--outcome", "ok")
	id := runID.FindStringSubmatch(out)
	if code != 0 || id == nil {
		a.T.Fatalf("runs: exit %d\n%s", code, out)
	}
	return id[1]
}

// Keep writes a screenshot to docs/page.
func (v *Visit) Keep(name string) {
	v.t.Helper()
	dir := filepath.Join("..", "docs", "page")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), v.screenshot(), 0o644); err != nil {
		v.t.Fatal(err)
	}
}

// Focus presses the Tab key until an element that a selector matches has the focus, which
// has to be seen.
func (v *Visit) Focus(selector string) {
	v.t.Helper()
	v.Await(fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q) !== null", selector))
	for range 200 {
		v.Press("\t")
		if Value[bool](v.Browser, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			if !Value[bool](v.Browser, `(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none"; })()`) {
				v.t.Errorf("the focus on %s is not seen", selector)
			}
			return
		}
	}
	v.t.Fatalf("the Tab key never reaches %s\n%s", selector, v.Seen())
}

// Press types keys.
func (v *Visit) Press(keys string) {
	v.t.Helper()
	v.Do(chromedp.KeyEvent(keys))
}

var runID = regexp.MustCompile(`"id":\s*"(run-[^"]+)"`)

// Watch counts scripts of strangers from now on, in every document.
func (v *Visit) Watch() {
	v.t.Helper()
	v.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `window.canary = () => { localStorage.setItem("canary", location.href) }`,
		})
		return err
	}))
}

// Opens opens a file that a skill left, as far as the browser shows it: most are saved.
func (v *Visit) Opens(link string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.Ctx, Patience)
	defer cancel()
	_ = chromedp.Do(ctx, chromedp.Navigate(link)) // fails for a file that is saved
	if title := Value[string](v.Browser, "document.title"); title == "ran" {
		v.t.Errorf("%s ran a script", link)
	}
	if origin := Value[string](v.Browser, "window.origin"); strings.HasPrefix(Value[string](v.Browser, "location.href"), link) && origin == v.Origin {
		v.t.Errorf("%s has the page's origin", link)
	}
}

// Silent fails the test if a script of a stranger has run.
func (v *Visit) Silent() {
	v.t.Helper()
	v.Show("/ui/")
	if where := Value[string](v.Browser, `localStorage.getItem("canary") || ""`); where != "" {
		v.t.Errorf("a script of a skill ran at %s", where)
	}
	v.Do(chromedp.Evaluate[chromedp.Void]("canary()")) // the canary itself sings
	if Value[string](v.Browser, `localStorage.getItem("canary") || ""`) == "" {
		v.t.Error("the canary does not work")
	}
}
