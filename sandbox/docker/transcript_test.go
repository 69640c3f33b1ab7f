package docker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTranscript(t *testing.T) {
	var told []string
	l := &transcript{each: func(line string) { told = append(told, line) }, hide: secrets(nil)}
	if s := l.String(); s != "the installer printed nothing" {
		t.Errorf("at first %q", s)
	}
	for _, part := range []string{"a", "b\n\n\x1b[31mred\n", strings.Repeat("x", 1000) + "\n", "no end"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := []string{"ab", "[31mred", strings.Repeat("x", lineLength)}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if s := l.String(); s != strings.Join(append(want, "no end"), "\n") {
		t.Errorf("in the end %q", s)
	}
}

func TestTranscriptCut(t *testing.T) {
	l := &transcript{each: func(string) {}, hide: secrets(nil)}
	for i := range 20 {
		fmt.Fprintln(l, i)
	}
	if want := "0 1 2 3 4 5 … 12 13 14 15 16 17 18 19"; strings.ReplaceAll(l.String(), "\n", " ") != want {
		t.Errorf("kept %q", l.String())
	}
}

func TestSecrets(t *testing.T) {
	hide := secrets([]string{"PIP_INDEX_URL=https://ann:p%40ss@pip.example/simple", "PIP_EXTRA_INDEX_URL=https://glpat-1@a.example https://b.example", "NPM_TOKEN=npm_123", "PIP_NO_INDEX=1"})
	for text, want := range map[string]string{
		"Looking in indexes: https://ann:p%40ss@pip.example/simple": "Looking in indexes: https://ann:***@pip.example/simple",
		"p@ss is wrong":             "*** is wrong",
		"https://glpat-1@a.example": "https://***@a.example",
		"npm_123 and 1":             "*** and 1",
	} {
		if got := hide.Replace(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
