package markdown

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// file is the file view of a test.
func file(name string) string { return "/ui/skills/s?file=" + url.QueryEscape(name) }

func TestRender(t *testing.T) {
	for given, want := range map[string]string{
		"# A\n## B\n##### C\n# D":          "<h3>A</h3>\n<h4>B</h4>\n<h5>C</h5>\n<h3>D</h3>\n",
		"### A\n# B":                       "<h3>A</h3>\n<h3>B</h3>\n",
		"a *b* **c** ~~d~~ `e`":            "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e</code></p>\n",
		"- [x] a\n- [ ] b":                 "<ul>\n<li>☑ a</li>\n<li>☐ b</li>\n</ul>\n",
		"3. a":                             "<ol start=\"3\">\n<li>a</li>\n</ol>\n",
		"```py\nx<1\n```":                  "<pre tabindex=\"0\"><code class=\"language-py\">x&lt;1\n</code></pre>\n",
		"```a\"onclick=x\nx\n```":          "<pre tabindex=\"0\"><code class=\"language-a&quot;onclick=x\">x\n</code></pre>\n",
		"|a|\n|-|\n|b|":                    "<div class=\"scroll\" tabindex=\"0\"><table class=\"table\">\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table></div>\n",
		"[a](https://b.example/?c=1&d=2)":  "<p><a href=\"https://b.example/?c=1&amp;d=2\" rel=\"nofollow noopener noreferrer\">a</a></p>\n",
		"https://b.example <m@b.example>":  "<p><a href=\"https://b.example\" rel=\"nofollow noopener noreferrer\">https://b.example</a> <a href=\"mailto:m@b.example\" rel=\"nofollow noopener noreferrer\">m@b.example</a></p>\n",
		"[a](./docs/x%20y.md#z \"t\")":     "<p><a href=\"/ui/skills/s?file=docs%2Fx+y.md\" rel=\"nofollow noopener noreferrer\">a</a></p>\n",
		"[a](../x) [b](/x) [c](//h/x)":     "<p>a (../x) b (/x) c (//h/x)</p>\n",
		"[a](#x)":                          "<p>a</p>\n",
		"[a](javascript:alert(1))":         "<p>a (javascript:alert(1))</p>\n",
		"[a](data:text/html,x)":            "<p>a (data:text/html,x)</p>\n",
		"<javascript:alert(1)>":            "<p>javascript:alert(1)</p>\n",
		"![alt](https://b.example/x.png)":  "<p><a href=\"https://b.example/x.png\" rel=\"nofollow noopener noreferrer\">🖼 alt</a></p>\n",
		"![](x.png)":                       "<p><a href=\"/ui/skills/s?file=x.png\" rel=\"nofollow noopener noreferrer\">🖼 image</a></p>\n",
		"[![i](x.png)](https://b.example)": "<p><a href=\"https://b.example\" rel=\"nofollow noopener noreferrer\">🖼 i</a></p>\n",
		"![a](javascript:x)":               "<p>🖼 a</p>\n",
		"a <b onclick=x>c</b> <!-- d -->":  "<p>a &lt;b onclick=x&gt;c&lt;/b&gt; &lt;!-- d --&gt;</p>\n",
		"<script>alert(1)</script>":        "<pre tabindex=\"0\">&lt;script&gt;alert(1)&lt;/script&gt;</pre>\n",
		"<!--\nobey\n-->\nx":               "<pre tabindex=\"0\">&lt;!--\nobey\n--&gt;\n</pre>\n<p>x</p>\n",
		"a\u202eb\u200bc &#x202e;":         "<p>a\\u202eb\\u200bc \\u202e</p>\n",
		"👩\u200d💻 \xff":                    "<p>👩\u200d💻 \ufffd</p>\n",
		"&lt;table> <table>":               "<p>&lt;table&gt; &lt;table&gt;</p>\n",
	} {
		if got := string(Render(given, file)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", given, got, want)
		}
	}
	if got, want := string(Render("[a](x.md)", nil)), "<p>a (x.md)</p>\n"; got != want {
		t.Errorf("without files: %s, want %s", got, want)
	}
}

// A text is cut between characters, and says so.
func TestRenderBounded(t *testing.T) {
	text := strings.Repeat("é", MaxText/2+1)
	got := string(Render("x"+text, nil))
	if !strings.HasSuffix(got, cutNote) || strings.ContainsRune(got, '\ufffd') || len(got) > MaxText+100 {
		t.Errorf("%d bytes that end with %q", len(got), got[len(got)-100:])
	}
	if got := string(Render(text[:MaxText], nil)); strings.Contains(got, cutNote) {
		t.Error("a text of the greatest length is cut")
	}
}

// The slowest texts of the greatest length end, in seconds where nothing else runs, and deep
// ones are shown as they are.
func TestRenderHostile(t *testing.T) {
	for unit, parsed := range map[string]bool{">": false, "> ": false, "1. ": false, "[a](": true, "_a*": true, "`a": true, "*a_ ": true, "[a]: b\n": true, "> > [a](": true} {
		text := strings.Repeat(unit, MaxText/len(unit))
		begin := time.Now()
		got := string(Render(text, file))
		if took := time.Since(begin); took > 5*time.Minute {
			t.Errorf("%q takes %v", unit, took)
		}
		if (got != preformatted(text)) != parsed {
			t.Errorf("%q is parsed: %t", unit, !parsed)
		}
	}
	var nested strings.Builder
	for i := range maxDepth {
		nested.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
	}
	if got := string(Render(nested.String(), file)); got != preformatted(nested.String()) {
		t.Error("elements nest without bound")
	}
}

// A short text that makes a long page is shown as it is: blank lines that each of many open
// lists is asked about, the missing cells of wide tables, and references to a long address.
func TestRenderAmplified(t *testing.T) {
	var nested strings.Builder
	for i := range 120 {
		nested.WriteString(strings.Repeat(" ", 2*i) + "-\n")
	}
	for name, text := range map[string]string{
		"lists":      nested.String() + strings.Repeat("\n", 40_000),
		"table":      "|" + strings.Repeat("a|", 2000) + "\n|" + strings.Repeat("-|", 2000) + "\n" + strings.Repeat("|a\n", 2000),
		"references": "[a]: <" + strings.Repeat("b", 20_000) + ">\n\n" + strings.Repeat("[a]\n\n", 500),
		"images":     "[a]: <" + strings.Repeat("b", 20_000) + ">\n\n" + strings.Repeat("![a]\n\n", 500),
	} {
		if got := string(Render(text, file)); got != preformatted(text) {
			t.Errorf("%s: %d bytes become %d", name, len(text), len(got))
		}
	}
	plain := "|a|b|\n|-|-|\n" + strings.Repeat("|a|b|\n", 2000) + strings.Repeat("- a\n  - b\n\n    c\n", 2000) + "[a]: b.md\n\n" + strings.Repeat("[a]\n\n", 2000)
	if string(Render(plain, file)) == preformatted(plain) {
		t.Error("an ordinary text is taken for hostile")
	}
}

// FuzzRender wants elements and attributes of a fixed list alone, and no character of
// which a person sees nothing.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"# a\n\n[b](javascript:alert(1)) ![c](//d) <e@f.g>\n", "<script>x</script><svg onload=x><math><style>", "[a]: javascript:x\n[a] <javascript:x>",
		"|a|b|\n|-|:-:|\n|`c`|<td>|\n", "> - [x] ~~a~~\n1. ```b\n", "<a href='x' id=a name=b>&#x6a;avascript:", "```\"><iframe\nx\n```", "[a](<x\" onclick=y>)", "<!-- x\n--><form action=x><base><meta>",
		"www.a.b/\"onclick=x https://a\"b", "[a](file:///etc/passwd) [b](JaVaScRiPt:x) [c](\x01javascript:x)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := string(Render(text, file))
		root, err := html.Parse(strings.NewReader(out))
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for n := range root.Descendants() {
			checkNode(t, n)
		}
	})
}

func checkNode(t *testing.T, n *html.Node) {
	t.Helper()
	allowed := map[string][]string{
		"html": nil, "head": nil, "body": nil, "p": nil, "br": nil, "hr": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil, "em": nil, "strong": nil, "del": nil,
		"ul": nil, "li": nil, "thead": nil, "tbody": nil, "tr": nil, "th": nil, "td": nil,
		"ol": {"start"}, "pre": {"tabindex"}, "code": {"class"}, "a": {"href", "rel"}, "table": {"class"}, "div": {"class", "tabindex"},
	}
	switch n.Type {
	case html.TextNode, html.DocumentNode:
		return
	case html.ElementNode:
	default:
		t.Fatalf("a node of the type %d: %q", n.Type, n.Data)
	}
	attributes, ok := allowed[n.Data]
	if !ok {
		t.Fatalf("an element %q", n.Data)
	}
	for _, a := range n.Attr {
		if !slices.Contains(attributes, a.Key) {
			t.Fatalf("an attribute %s=%q of %s", a.Key, a.Val, n.Data)
		}
		u, err := url.Parse(a.Val)
		switch {
		case a.Key == "class" && !strings.HasPrefix(a.Val, "language-") && a.Val != "table" && a.Val != "scroll":
			t.Fatalf("a class %q", a.Val)
		case a.Key == "href" && (err != nil || u.Scheme == "" && !strings.HasPrefix(a.Val, "/ui/skills/s?file=") || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme)):
			t.Fatalf("a link to %q", a.Val)
		}
	}
}
