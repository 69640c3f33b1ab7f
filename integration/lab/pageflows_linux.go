package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Fits fails the test unless the screen fits a phone and a desk, and axe-core finds
// nothing in it. The window is a desk's again afterwards.
func (v *Visit) Fits(screen string) {
	v.t.Helper()
	for _, window := range []struct {
		width  int64
		scheme string
	}{{360, "dark"}, {1280, "light"}} {
		v.Size(window.width, 900, window.scheme)
		if wide := Value[float64](v.Browser, "document.documentElement.scrollWidth"); wide > float64(window.width) {
			v.t.Errorf("%s is %v pixels wide in a window of %d", screen, wide, window.width)
		}
		v.Unscrolled(screen)
		v.Accessible()
		if v.t.Failed() {
			v.t.Fatalf("in %s, at %d pixels, %s", screen, window.width, window.scheme)
		}
	}
}

// Unscrolled fails the test if a table of the screen has to be scrolled sideways.
func (v *Visit) Unscrolled(screen string) {
	v.t.Helper()
	if wide := Value[[]string](v.Browser, `[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.getAttribute("aria-label") || e.innerText)`); len(wide) > 0 {
		v.t.Errorf("tables of %s are wider than the window: %q", screen, wide)
	}
}

// Enter presses a button that a selector matches, with the Tab and the Enter key.
func (v *Visit) Enter(selector string) {
	v.t.Helper()
	v.insist(func() {
		v.Focus(selector)
		v.Press("\r")
	})
}

// Holds fails the test unless the element with the focus has a text, which was typed.
func (v *Visit) Holds(selector, typed string) {
	v.t.Helper()
	if got := Value[string](v.Browser, fmt.Sprintf(`document.activeElement.matches(%q) ? document.activeElement.value : "the focus is lost"`, selector)); got != typed {
		v.t.Errorf("%s holds %q, want %q", selector, got, typed)
	}
}

// Lists reports whether tools/list has a tool.
func (c *ToolClient) Lists(tool string) bool {
	c.t.Helper()
	return slices.ContainsFunc(c.ask("tools/list", `{}`).Result.Tools, func(t struct{ Name string }) bool { return t.Name == tool })
}

// Cookie returns the cookie of the session, as it is sent.
func (v *Visit) Cookie() string {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.Ctx, Patience)
	defer cancel()
	jar, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{})
	if err != nil || len(jar.Cookies) != 1 {
		v.t.Fatalf("the cookies are %v: %v", jar, err)
	}
	return jar.Cookies[0].Name + "=" + jar.Cookies[0].Value
}
