package markup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template/parse"
)

// TestScreens follows each branch of the page's templates, whether or not a test executes it:
// all of them print in text or quoted attribute values, and end where they began.
func TestScreens(t *testing.T) {
	screens, _ := filepath.Glob("../templates/*.html")
	shared, _ := filepath.Glob("../templates/parts*.html")
	signin, _ := filepath.Glob("../signin/*.html")
	if len(screens) < 20 || len(shared) < 2 || len(signin) == 0 {
		t.Fatalf("%d screens, %d parts, %d of signing in", len(screens), len(shared), len(signin))
	}
	for _, screen := range append(screens, signin...) {
		if base := filepath.Base(screen); base == "layout.html" || strings.HasPrefix(base, "parts") {
			continue // they are parts of each screen
		}
		f := follower{map[string]*parse.Tree{}, map[string]context{}}
		for _, name := range append(shared, "../templates/layout.html", screen) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := parse.New(filepath.Base(name))
			tree.Mode = parse.SkipFuncCheck
			if _, err := tree.Parse(string(text), "", "", f.trees); err != nil {
				t.Fatal(err)
			}
		}
		first := "layout.html"
		if f.trees["main"] == nil {
			first = filepath.Base(screen)
		}
		if err := f.template(context{}, first); err != nil {
			t.Errorf("%s: %v", screen, err)
		}
	}
}

// A follower finds the context of each node.
type follower struct {
	trees map[string]*parse.Tree
	known map[string]context // of each template that was followed
}

func (f follower) template(start context, name string) error {
	if known, ok := f.known[name]; ok {
		if known != start {
			return fmt.Errorf("template %s is called in different places", name)
		}
		return nil
	}
	if f.trees[name] == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	f.known[name] = start
	end, err := f.follow(start, f.trees[name].Root)
	if err == nil && end != start {
		err = fmt.Errorf("it ends in another place than it begins")
	}
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	return nil
}

func (f follower) follow(c context, node parse.Node) (end context, err error) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			if c, err = f.follow(c, child); err != nil {
				return c, err
			}
		}
		return c, nil
	case *parse.TextNode:
		return c.after(string(n.Text))
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 && c.place != inText && c.place != inValue {
			return c, fmt.Errorf("%s prints where no text or attribute value is", n)
		}
		if len(n.Pipe.Decl) == 0 && c.url == begin {
			c.url = address
		}
		return c, nil
	case *parse.IfNode:
		return f.branches(c, &n.BranchNode)
	case *parse.WithNode:
		return f.branches(c, &n.BranchNode)
	case *parse.RangeNode:
		return f.branches(c, &n.BranchNode)
	case *parse.TemplateNode:
		return c, f.template(c, n.Name)
	case *parse.CommentNode:
		return c, nil
	}
	return c, fmt.Errorf("%s cannot be used", node)
}

func (f follower) branches(c context, n *parse.BranchNode) (context, error) {
	end, err := f.follow(c, n.List)
	other := c
	if err == nil && n.ElseList != nil {
		other, err = f.follow(c, n.ElseList)
	}
	if err == nil && end != other {
		err = fmt.Errorf("the branches of %s end in different places", n)
	}
	return end, err
}
