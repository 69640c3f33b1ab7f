package clientroots

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFolderOf(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///srv/shop":             "/srv/shop",
		"file:///srv/my%20shop/":       "/srv/my shop",
		"file://localhost/srv/shop":    "/srv/shop",
		"FILE:/srv/shop":               "/srv/shop",
		"file:///srv/../etc":           "/etc",
		"file:///":                     "/",
		"file://other/srv/shop":        "",
		"file:////other/share":         "",
		"file:///%2Fother/share":       "",
		"file://ann@localhost/srv":     "",
		"file:srv/shop":                "",
		"file:":                        "",
		"file:///srv/shop?x":           "",
		"file:///srv/shop#x":           "",
		"file:///srv/%00":              "",
		"file:///srv/%zz":              "",
		"/srv/shop":                    "",
		"https://localhost/srv/shop":   "",
		"vscode-vfs://github/ann/shop": "",
	} {
		if runtime.GOOS == "windows" {
			uri, want = strings.Replace(uri, "/srv", "/C:/srv", 1), strings.Replace(want, "/srv", "C:/srv", 1)
		}
		if got, err := folderOf(uri); filepath.ToSlash(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", uri, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"roots":[{"uri":"file:///srv/shop","name":"shop"},{"uri":"https://a"},{}]}`))
	f.Add([]byte(`{"roots":null}`))
	f.Add([]byte(`{"roots":[` + strings.Repeat(`{"uri":"file:///a"},`, maxRoots+1) + `{"uri":"file://%"}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		folders, err := parse(answer)
		if len(folders) > maxRoots || err != nil && folders != nil {
			t.Fatalf("%q, %v", folders, err)
		}
		for _, folder := range folders {
			if !filepath.IsAbs(folder) || filepath.Clean(folder) != folder || strings.ContainsRune(folder, 0) {
				t.Errorf("%q", folder)
			}
		}
	})
}
