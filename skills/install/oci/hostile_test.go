package oci

import (
	"archive/tar"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	godigest "github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
)

// TestHostileLayers tries hostile layers, with the outcome: what is in the quarantine, or why
// it is refused.
func TestHostileLayers(t *testing.T) {
	t.Parallel()
	a := in(t)
	skill := file("s/SKILL.md", "x")
	deep := "s/" + strings.Repeat("d/", 40)
	whole := tarball(t, true, file("s/SKILL.md", strings.Repeat("x", 1000)))
	tgz := func(headers ...tar.Header) []byte {
		return tarball(t, true, append([]tar.Header{skill}, headers...)...)
	}
	for name, test := range map[string]struct {
		data    []byte
		files   map[string]string
		refused string
	}{
		"up":              {data: tgz(file("s/../../etc/cron.d/x", "x")), refused: "leads out of"},
		"absolute":        {data: tgz(file("/s/a", "a")), refused: "its path is absolute"},
		"host-link":       {data: tgz(symlink("s/a", "/etc/passwd")), refused: "absolute path"},
		"link-out":        {data: tgz(symlink("s/a", "../../../etc/passwd")), refused: "s/a"},
		"through-link":    {data: tgz(symlink("s/a", "/tmp"), file("s/a/f", "x")), refused: "s/a"},
		"hard-link":       {data: tgz(hardlink("s/a", "/etc/shadow")), refused: "absolute"},
		"hard-link-up":    {data: tgz(hardlink("s/a", "../../etc/shadow")), refused: "leads out of"},
		"hard-link-dir":   {data: tgz(hardlink("s/a", "s")), refused: "leads to no file"},
		"hard-link-link":  {data: tgz(symlink("l", "s/SKILL.md"), hardlink("s/a", "l")), refused: "leads to no file"},
		"device":          {data: tgz(tar.Header{Name: "s/a", Typeflag: tar.TypeBlock}), refused: "neither a file"},
		"pipe":            {data: tgz(tar.Header{Name: "s/a", Typeflag: tar.TypeFifo}), refused: "neither a file"},
		"setuid":          {data: tgz(script("s/a", "x")), files: map[string]string{"s/SKILL.md": "x", "s/a": "* x"}},
		"twice":           {data: tgz(file("s/a", "1"), file("s/a", "2")), refused: "two files of this name"},
		"case":            {data: tgz(file("s/a", "1"), file("s/A", "2")), refused: "s/A"},
		"escape-sequence": {data: tgz(file("s/\x1b[2J", "x")), refused: "control characters"},
		"backslash":       {data: tgz(file(`s/..\..\x`, "x")), refused: "backslash"},
		"deep":            {data: tgz(file(deep+"f", "x")), refused: "folders deep"},
		"zstd":            {data: []byte("\x28\xb5\x2f\xfd...."), refused: "neither a ZIP nor a tar.gz file"},
		"text":            {data: []byte(strings.Repeat("no archive ", 100)), refused: "neither a ZIP nor a tar.gz file"},
		"cut-off":         {data: whole[:len(whole)-20], refused: "not whole"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a.image(name, typeSkill, a.blob(typeContent, test.data))
			_, files, err := fetch(t, newFetcher(t, download.Options{}, ""), named(a.location(), name))
			if test.refused == "" {
				if diff := cmp.Diff(test.files, files); err != nil || diff != "" {
					t.Errorf("%v, files (-want +got):\n%s", err, diff)
				}
				return
			}
			if err == nil {
				t.Fatalf("it is accepted: %q", files)
			}
			if got := refusal(t, err); !strings.Contains(got, test.refused) {
				t.Errorf("%s, want %q in it", got, test.refused)
			}
		})
	}
}

// TestHostileManifests: layers that lie, of which no byte is fetched.
func TestHostileManifests(t *testing.T) {
	t.Parallel()
	digest := v1.Descriptor{Digest: godigest.FromString("x"), Size: 1}
	sized := func(size int64) v1.Descriptor { return v1.Descriptor{Digest: digest.Digest, Size: size} }
	for name, layers := range map[string][]v1.Descriptor{
		"a large size":     {sized(1<<20 + 1)},
		"a negative size":  {sized(-1)},
		"no digest":        {{Size: 1}},
		"a weak digest":    {{Digest: "md5:d41d8cd98f00b204e9800998ecf8427e", Size: 1}},
		"another digest":   {{Digest: "sha512:" + godigest.Digest(strings.Repeat("0", 128)), Size: 1}},
		"a path as digest": {{Digest: "sha256:../../x", Size: 1}},
		"none":             nil,
		"two":              {digest, digest},
	} {
		m := &manifest{Layers: layers}
		if layer, err := m.layer(1 << 20); err == nil {
			t.Errorf("%s: accepted, %+v", name, layer)
		}
	}
}

// TestCanceled: a fetch ends with its context.
func TestCanceled(t *testing.T) {
	t.Parallel()
	a := in(t)
	a.image("1.0", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "1"))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := fetchContext(t, ctx, newFetcher(t, download.Options{}, ""), named(a.location(), "1.0")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzManifest: no manifest makes a panic, and each is refused or has a layer that can be
// checked.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{"platform": {"os": "linux"}}]}`))
	f.Add([]byte(`{"artifactType": "application/vnd.agentskills.skill.v1", "layers": [{"digest": "sha256:00", "size": 1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest(text, v1.Descriptor{})
		if err != nil {
			return
		}
		_, _, _ = m.isIndex(), m.origin(), m.digest
		_, _ = m.choose()
		if layer, err := m.layer(1 << 20); err == nil && (layer.Size > 1<<20 || layer.Digest.Validate() != nil) {
			t.Errorf("accepted: %+v", layer)
		}
	})
}
