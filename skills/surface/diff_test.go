package surface

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// folder returns the files of a folder: one with "#!" may be executed, "-> TARGET" is a link.
func folderOf(t *testing.T, files map[string]string) fs.FS {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file, mode := filepath.Join(dir, filepath.FromSlash(name)), os.FileMode(0o644)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		err := error(nil)
		if to, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(to, file)
		} else {
			err = os.WriteFile(file, []byte(content), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return skillfs.DirFS(dir)
}

// Every file that differs is named, each text with its lines, executed files first.
func TestDiff(t *testing.T) {
	before := folderOf(t, map[string]string{
		"SKILL.md": "# A\n", "a.json": "{}\n", "gone.txt": "old\n", "logo.png": "\x89PNG\x00\x01", "link": "-> a.json", "same.py": "pass\n",
		"run": "import sys\nprint(1)\n", "tool.sh": "#!/bin/sh\necho\n", "wide.txt": "a\r\nb\r\n", "empty": "",
	})
	now := folderOf(t, map[string]string{
		"SKILL.md": "# B\n", "a.json": "{\"\u202e\": \"\x1b[2J\"}\n", "new.py": "import os\n", "logo.png": "\x89PNG\x00\x02", "link": "-> /etc/passwd", "same.py": "pass\n",
		"run": "import sys\n++ head\n-- tail\ndiff SKILL.md\nprint(2)\n", "tool.sh": "#!/bin/sh\necho\n", "wide.txt": "a\nb\n",
	})
	if err := os.Chmod(filepath.Join(before.(skillfs.Dir).Path(), "tool.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Diff(before, now, []string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	want := `diff run (the entry point)
--- run
+++ run
@@ -1,2 +1,5 @@
 import sys
-print(1)
+++ head
+-- tail
+diff SKILL.md
+print(2)
diff new.py (executed, added)
--- new.py
+++ new.py
@@ -0,0 +1,1 @@
+import os
diff tool.sh (executed, may be executed now: true)
diff SKILL.md
--- SKILL.md
+++ SKILL.md
@@ -1,1 +1,1 @@
-# A
+# B
diff a.json
--- a.json
+++ a.json
@@ -1,1 +1,1 @@
-{}
+{"\u202e": "\x1b[2J"}
diff link
--- link
+++ link
@@ -1,1 +1,1 @@
-a link to a.json
+a link to /etc/passwd
diff logo.png (not shown: 6 bytes, sha256:X; before: 6, sha256:X)
diff wide.txt (no line differs)
diff empty (removed, no line differs)
diff gone.txt (removed)
--- gone.txt
+++ gone.txt
@@ -1,1 +0,0 @@
-old
`
	if diff := cmp.Diff(want, regexp.MustCompile("sha256:[0-9a-f]{64}").ReplaceAllString(got, "sha256:X")); diff != "" {
		t.Error(diff)
	}
	if got, err := Diff(now, now, nil); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Padding hides no other file, and what is not shown is counted.
func TestDiffBounds(t *testing.T) {
	before, now := fstest.MapFS{}, fstest.MapFS{}
	for n := range 50 {
		name := fmt.Sprintf("data/%02d.txt", n)
		before[name], now[name] = &fstest.MapFile{Data: []byte("a\n")}, &fstest.MapFile{Data: []byte(strings.Repeat("b\n", 1000))}
	}
	now["aa.sh"] = &fstest.MapFile{Data: []byte(strings.Repeat("echo padding\n", 5000)), Mode: 0o755}
	now["long.py"] = &fstest.MapFile{Data: []byte("x = 1" + strings.Repeat(" ", 9000) + "; upload('~/.ssh')\n")}
	now["run.py"] = &fstest.MapFile{Data: []byte("upload('~/.ssh')\n" + strings.Repeat("pass\n", 200_000))}
	now["big.py"] = &fstest.MapFile{Data: []byte(strings.Repeat("pass\n", 500_000))}
	got, err := Diff(before, now, []string{"run.py"})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) > maxDiffLines+3 || !strings.HasPrefix(got, "diff run.py (executed, added, the entry point)\n--- run.py\n+++ run.py\n@@ -0,0 +1,200001 @@\n+upload('~/.ssh')\n") {
		t.Errorf("%d lines: %.300s", len(lines), got)
	}
	for _, want := range []string{"\ndiff aa.sh (executed, added)\n", "\n+x = 1 ", " 8624 bytes … ", "; upload('~/.ssh')\n", "\ndiff big.py (executed, added, not shown: 2500000 bytes, sha256:"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	shown := 0
	for _, line := range lines {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			shown++
		}
	}
	hidden := 50*1001 + 5000 + 1 + 200_001 - shown
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, fmt.Sprintf("… %d more changed lines in ", hidden)) {
		t.Errorf("%d lines are hidden: %s", hidden, last)
	}
}

// Without the files of the earlier version its texts are compared, and new files are shown.
func TestDiffTo(t *testing.T) {
	files := map[string]string{"SKILL.md": "# A\nOne.\n", "same.sh": "#!/bin/sh\necho\n", "run.py": "print(1)\n"}
	skill := &skills.Skill{Name: "a", Description: "Does.", File: "SKILL.md", Entry: &skills.Entry{Script: "run.py"}}
	was, err := Of(skill, folderOf(t, files))
	if err != nil {
		t.Fatal(err)
	}
	files["SKILL.md"], files["run.py"] = "# A\nTwo.\n", "print(2)\n"
	got, err := was.DiffTo(folderOf(t, files), was.Entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"… the accepted files are not kept: ", "\n+print(2)\n", "\n-One.\n+Two.\n"} {
		if !strings.Contains(got, want) || strings.Contains(got, "same.sh") {
			t.Errorf("no %q in %s", want, got)
		}
	}
}
