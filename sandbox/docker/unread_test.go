package docker

import (
	"slices"
	"strings"
	"testing"
)

func TestUnread(t *testing.T) {
	for said, want := range map[string][]string{
		"": nil,
		"/out/large\ntar: ./socket: socket ignored\ntar: ./a/b: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n": {
			`"large": at most 16 MB are taken`, `"socket": socket ignored`, `"a/b": Cannot open: Permission denied`,
		},
		"tar: ./\x1b[2J: socket\x07 ignored\nsh: find: not found\n": {`"\x1b[2J": socket ignored`},
		strings.Repeat("/out/x\n", 20):                              append(slices.Repeat([]string{`"x": at most 16 MB are taken`}, 16), "and more"),
	} {
		if got := unread(said); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
