package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A Browser is one window of a headless Chromium with a profile of its own.
type Browser struct {
	t   *testing.T
	Ctx context.Context
}

// NewBrowser starts a browser, which ends with the test.
func NewBrowser(t *testing.T) *Browser {
	t.Helper()
	Requires(t, "CI", program("chromium")(t.Context()))
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WSURLReadTimeout(Patience), // its own is 20 s, in which a busy machine may not start one
	)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeWindow := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		closeWindow() // waits for the process
		stop()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // without a deadline, which would end the browser
		t.Fatal(err)
	}
	return &Browser{t, ctx}
}

// Do runs steps, and fails the test unless all succeed in time.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.Seen())
	}
}

// Seen returns the address and the text of the window, for failures.
func (b *Browser) Seen() string {
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// Open shows a page.
func (b *Browser) Open(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Click clicks the first element that is seen and that a CSS selector matches, when it
// takes clicks.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.insist(func() {
		b.Await(fmt.Sprintf(`(e => e !== null && getComputedStyle(e).pointerEvents !== "none")(document.querySelector(%q))`, selector))
		b.Do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	})
}

// insist presses a button until the page takes it: for half a second after a form has
// changed, the page takes nothing and asks to press once more.
func (b *Browser) insist(press func()) {
	b.t.Helper()
	status := `document.getElementById("status")`
	for {
		b.Await(`document.readyState === "complete"`)
		b.Do(chromedp.Evaluate[chromedp.Void](status + `?.replaceChildren()`)) // it may still speak of an earlier press
		press()
		ctx, cancel := context.WithTimeout(b.Ctx, Patience)
		refused, err := chromedp.Run(ctx, chromedp.Evaluate[bool](status+`?.textContent.includes("press once more") ?? false`))
		cancel()
		if err != nil || !refused { // an error is of a page that is being replaced
			return
		}
	}
}

// Await waits until an expression is true. The page's policy forbids the polling of
// chromedp, which makes functions of texts.
func (b *Browser) Await(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	for {
		// An error is of a page that is being replaced.
		if done, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && done {
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("%s is not so:\n%s", expression, b.Seen())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Says waits until the page shows a text.
func (b *Browser) Says(text string) {
	b.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Await(fmt.Sprintf("document.body.innerText.includes(%s)", quoted))
}

// Value returns the value of an expression, which may be a promise.
func Value[T any](b *Browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	result, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.Seen())
	}
	return result
}

// Size sets the size of the window in CSS pixels, and its colours: "light" or "dark".
func (b *Browser) Size(width, height int64, scheme string) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		return err
	}))
}

// screenshot returns the window as a WebP image.
func (b *Browser) screenshot() []byte {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	quality := int64(80)
	image, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality})
	if err != nil {
		b.t.Fatal(err)
	}
	return image.Data
}

// Accessible fails the test if axe-core finds something on the page.
func (b *Browser) Accessible() {
	b.t.Helper()
	type violation struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}
	b.Do(chromedp.Evaluate[chromedp.Void](axe(b.t)))
	found := Value[[]violation](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({ID: v.id, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`)
	for _, v := range found {
		for _, node := range v.Nodes {
			b.t.Errorf("%s: %s: %s\n%s", v.ID, v.Help, node.HTML, node.FailureSummary)
		}
	}
}

// axe returns the program of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	tools := os.Getenv("SKILLS_MCP_TEST_TOOLS")
	if tools == "" {
		Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", errors.New("SKILLS_MCP_TEST_TOOLS is not set"))
	}
	text, err := os.ReadFile(filepath.Join(tools, "..", "libraries", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pageLink matches the link that signs a person in.
var pageLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/ui/\S+`)

// Page runs "skills-mcp ui" on a terminal, and returns the link that signs in once. It
// has to end well at an interrupt, with the test.
func (a *Account) Page(args ...string) (link string) {
	a.T.Helper()
	return a.Linked(append([]string{"ui", "--no-open"}, args...)...)
}

// Linked runs a command that serves the page, as [account.page] does "skills-mcp ui".
func (a *Account) Linked(args ...string) (link string) {
	a.T.Helper()
	cmd := a.Command(Binary, args...)
	cmd = &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env} // the test's context ends before its cleanups
	person := a.attach(cmd)
	screen, links := &lockedBuffer{}, make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for part := make([]byte, 4096); ; {
			n, err := person.Read(part)
			if err != nil {
				return
			}
			_, _ = screen.Write(part[:n])
			if found := pageLink.FindString(strings.TrimRight(TerminalCodes.ReplaceAllString(screen.String(), ""), "\n")); found != "" && strings.Contains(screen.String(), found+"\r\n") {
				select {
				case links <- found:
				default:
				}
			}
		}
	}()
	a.T.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			a.T.Errorf("the page did not end well: %v\n%s", err, screen)
		}
		person.Close()
		<-done
	})
	select {
	case link = <-links:
	case <-done:
		a.T.Fatalf("the page did not start:\n%s", screen)
	}
	return link
}
