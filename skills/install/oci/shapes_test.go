package oci

import (
	"archive/tar"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	specs "github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// TestShapes fetches each shape of artifacts that skills are published in.
func TestShapes(t *testing.T) {
	t.Parallel()
	layer := func(a artifact, kind string, headers ...tar.Header) v1.Descriptor {
		return a.blob(kind, tarball(a.t, !strings.HasSuffix(kind, ".tar"), headers...))
	}
	pdf := map[string]string{"pdf/SKILL.md": skillText, "pdf/scripts/read.sh": "* #!/bin/sh\n"}
	content := []tar.Header{file("pdf/SKILL.md", skillText), script("pdf/scripts/read.sh", "#!/bin/sh\n")}
	for _, test := range []struct {
		name  string
		push  func(a artifact) v1.Descriptor
		path  string // of the request
		tree  source.Tree
		files map[string]string
	}{
		{
			name: "community, one content layer",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", typeSkill, layer(a, typeContent, content...))
			},
			tree: source.Tree{Path: "pdf", In: "pdf"}, files: pdf,
		},
		{
			name: "community, a layer for each file",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", typeSkill,
					a.blob("text/markdown", []byte(skillText), v1.AnnotationTitle, "SKILL.md"),
					a.blob("application/octet-stream", []byte("x"), v1.AnnotationTitle, "data/x.bin"))
			},
			tree: source.Tree{Path: "."}, files: map[string]string{"SKILL.md": skillText, "data/x.bin": "x"},
		},
		{
			name: "a folder that ORAS has pushed",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", typeSkill, a.blob("application/vnd.oci.image.layer.v1.tar+gzip", tarball(a.t, true, content...), v1.AnnotationTitle, "pdf", "io.deis.oras.content.unpack", "true"))
			},
			tree: source.Tree{Path: "pdf", In: "pdf"}, files: pdf,
		},
		{
			name: "before artifact types: by the configuration's type",
			push: func(a artifact) v1.Descriptor {
				return a.manifest(v1.MediaTypeImageManifest, "1.0", v1.Manifest{
					Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest,
					Config: a.blob(typeConfig, []byte(`{}`)), Layers: []v1.Descriptor{layer(a, typeContent, content...)},
				})
			},
			tree: source.Tree{Path: "pdf", In: "pdf"}, files: pdf,
		},
		{
			name: "Alibaba Cloud",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", typeAlibaba, layer(a, "application/vnd.agent.skill.content.v1.tar+gzip", file("SKILL.md", skillText)))
			},
			tree: source.Tree{Path: "."}, files: map[string]string{"SKILL.md": skillText},
		},
		{
			name: "ToolHive, an index of images",
			push: func(a artifact) v1.Descriptor {
				mine := a.image("mine", "dev.toolhive.skills.v1", layer(a, v1.MediaTypeImageLayerGzip, file("SKILL.md", skillText)))
				mine.Platform = &v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
				other := a.image("other", "dev.toolhive.skills.v1", layer(a, v1.MediaTypeImageLayerGzip, file("SKILL.md", "other")))
				other.Platform = &v1.Platform{OS: "linux", Architecture: "riscv64"}
				return a.manifest(v1.MediaTypeImageIndex, "1.0", v1.Index{
					Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, ArtifactType: "dev.toolhive.skills.v1", Manifests: []v1.Descriptor{other, mine},
				})
			},
			tree: source.Tree{Path: "."}, files: map[string]string{"SKILL.md": skillText},
		},
		{
			name: "an image from scratch",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", "", layer(a, v1.MediaTypeImageLayer, file("./SKILL.md", skillText), script("./run.sh", "#!/bin/sh\n")))
			},
			tree: source.Tree{Path: "."}, files: map[string]string{"SKILL.md": skillText, "run.sh": "* #!/bin/sh\n"},
		},
		{
			name: "a skill in an operating system, in layers with whiteouts",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", "",
					layer(a, "application/vnd.docker.image.rootfs.diff.tar.gzip",
						symlink("bin", "usr/bin"), tar.Header{Name: "dev/null", Typeflag: tar.TypeChar}, script("usr/bin/su", "x"), file("etc/passwd", "root"),
						tar.Header{Name: "skills/pdf/", Typeflag: tar.TypeDir, Mode: 0o755}, file("skills/pdf/SKILL.md", "old"), file("skills/pdf/gone.txt", "x"), file("skills/pdf/data/old.csv", "x"), file("skills/draft/SKILL.md", "x")),
					layer(a, v1.MediaTypeImageLayerGzip,
						file("skills/pdf/SKILL.md", skillText), file("skills/pdf/.wh.gone.txt", ""), file("skills/.wh.draft", ""),
						file("skills/pdf/data/new.csv", "y"), file("skills/pdf/data/.wh..wh..opq", ""),
						hardlink("skills/pdf/same.md", "skills/pdf/SKILL.md"), symlink("skills/pdf/link.md", "SKILL.md")))
			},
			tree: source.Tree{Path: "skills/pdf", In: "skills/pdf"},
			files: map[string]string{
				"skills/pdf/SKILL.md": skillText, "skills/pdf/same.md": skillText, "skills/pdf/link.md": "-> SKILL.md", "skills/pdf/data/new.csv": "y",
			},
		},
		{
			name: "a folder of an image",
			path: "skills/two",
			push: func(a artifact) v1.Descriptor {
				return a.image("1.0", "", layer(a, v1.MediaTypeImageLayerGzip, file("skills/one/SKILL.md", "1"), file("skills/two/SKILL.md", "2")))
			},
			tree: source.Tree{Path: "skills/two", In: "skills/two"}, files: map[string]string{"skills/two/SKILL.md": "2"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := in(t)
			pushed := test.push(a)
			r := named(a.location(), "1.0")
			r.Source.Path = test.path
			fetched, files, err := fetch(t, New(nil), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.files, files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]source.Tree{test.tree}, fetched.Trees); diff != "" {
				t.Errorf("trees (-want +got):\n%s", diff)
			}
			revision, err := New(nil).Revision(t.Context(), r.Source)
			if err != nil || revision != fetched.Revision || revision != pushed.Digest.String() {
				t.Errorf("the revision is %q, later %q (%v), pushed %s", fetched.Revision, revision, err, pushed.Digest)
			}
			if len(fetched.Checked) != 0 {
				t.Errorf("a tag is a proof: %q", fetched.Checked)
			}
		})
	}
}

// TestPins: a digest is fetched also when its tag has moved.
func TestPins(t *testing.T) {
	t.Parallel()
	a := in(t)
	first := a.image("latest", typeSkill, a.blob("text/markdown", []byte("1"), v1.AnnotationTitle, "SKILL.md"))
	second := a.image("latest", typeSkill, a.blob("text/markdown", []byte("2"), v1.AnnotationTitle, "SKILL.md"))
	for _, test := range []struct{ ref, pin, revision, text string }{
		{"", "", second.Digest.String(), "2"},
		{"latest", first.Digest.String(), first.Digest.String(), "1"},
		{first.Digest.String(), "", first.Digest.String(), "1"},
	} {
		r := named(a.location(), test.ref)
		r.Source.Pin = test.pin
		fetched, files, err := fetch(t, New(nil), r)
		if err != nil {
			t.Fatal(err)
		}
		pinned := test.pin != "" || strings.Contains(test.ref, ":")
		if (len(fetched.Checked) == 1) != pinned {
			t.Errorf("%+v: the proofs are %q", test, fetched.Checked)
		}
		if fetched.Revision != test.revision || files["SKILL.md"] != test.text {
			t.Errorf("%+v: %s, %q", test, fetched.Revision, files)
		}
	}
}

// TestCatalogs: a person chooses from a catalog, and only what they choose is fetched.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	a := in(t)
	pdf := a.image("pdf", typeSkill, a.blob(typeContent, tarball(t, true, file("pdf/SKILL.md", skillText))))
	csv := a.image("csv", typeSkill, a.blob("text/markdown", []byte("csv"), v1.AnnotationTitle, "SKILL.md"))
	index := func(kind string) v1.Index {
		one, two := pdf, csv
		one.ArtifactType, two.ArtifactType = typeSkill, typeSkill
		one.Annotations = map[string]string{annotationName: "pdf", v1.AnnotationDescription: "Reads PDF files.", annotationRef: a.location() + ":pdf"}
		two.Annotations = map[string]string{annotationName: "csv"}
		return v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, ArtifactType: kind, Manifests: []v1.Descriptor{one, two}}
	}
	a.manifest(v1.MediaTypeImageIndex, "collection", index(typeCollection))
	a.manifest(v1.MediaTypeImageIndex, "catalog", index(typeCatalog))
	a.manifest(v1.MediaTypeImageIndex, "untyped", index(""))
	a.image("text", typeCatalog, a.blob("application/json", []byte(`{"skills": [
		{"name": "pdf", "description": "Reads PDF files.", "reference": "`+a.location()+`:pdf", "digest": "`+pdf.Digest.String()+`"},
		{"name": "csv", "tag": "csv"}]}`)))
	for _, tag := range []string{"collection", "catalog", "untyped", "text"} {
		t.Run(tag, func(t *testing.T) {
			r := named(a.location(), tag)
			var choice *source.ChoiceError
			if _, _, err := fetch(t, New(nil), r); !errors.As(err, &choice) || choice.Missing != "" || len(choice.Choices) != 2 || choice.Choices[1].Description != "Reads PDF files." {
				t.Errorf("without a name: %v", err)
			}
			r.Names = []string{"docx"}
			if _, _, err := fetch(t, New(nil), r); !errors.As(err, &choice) || choice.Missing != "docx" {
				t.Errorf("with a wrong name: %v", err)
			}
			r.Names = []string{"pdf"}
			fetched, files, err := fetch(t, New(nil), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"1/pdf/pdf/SKILL.md": skillText}, files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			want := []source.Tree{{Path: "1/pdf/pdf", In: "pdf", Revision: pdf.Digest.String()}}
			if diff := cmp.Diff(want, fetched.Trees); diff != "" {
				t.Errorf("trees (-want +got):\n%s", diff)
			}
			r.Names, r.All = nil, true
			if fetched, _, err = fetch(t, New(nil), r); err != nil || len(fetched.Trees) != 2 || fetched.Trees[0].Path != "1/csv" {
				t.Errorf("all: %+v, %v", fetched, err)
			}
		})
	}
}

// TestSeveral: an image with several skills is a choice, too.
func TestSeveral(t *testing.T) {
	t.Parallel()
	a := in(t)
	a.image("1.0", "", a.blob(v1.MediaTypeImageLayerGzip, tarball(t, true, file("skills/one/SKILL.md", "1"), file("skills/two/SKILL.md", "2"), file("skills/two/more/SKILL.md", "nested"))))
	r := named(a.location(), "1.0")
	var choice *source.ChoiceError
	if _, _, err := fetch(t, New(nil), r); !errors.As(err, &choice) || len(choice.Choices) != 2 || choice.Choices[0] != (source.Choice{Name: "one", Kind: "skill", Path: "skills/one"}) {
		t.Errorf("without a name: %v", err)
	}
	r.Names = []string{"two"}
	_, files, err := fetch(t, New(nil), r)
	if diff := cmp.Diff(map[string]string{"skills/two/SKILL.md": "2", "skills/two/more/SKILL.md": "nested"}, files); err != nil || diff != "" {
		t.Errorf("%v, files (-want +got):\n%s", err, diff)
	}
}

// TestNoSkill: the error tells what an artifact is instead.
func TestNoSkill(t *testing.T) {
	t.Parallel()
	a := in(t)
	tgz := a.blob(v1.MediaTypeImageLayerGzip, tarball(t, true, file("etc/passwd", "root")))
	a.image("os", "", tgz)
	a.image("called", typeSkill, a.blob(typeContent, tarball(t, true, file("pdf/README.md", "x"))))
	a.image("chart", "application/vnd.cncf.helm.config.v1+json", tgz)
	a.image("signature", "application/vnd.dev.cosign.artifact.sig.v1+json", tgz)
	a.image("wasm", "application/vnd.wasm.config.v0+json", tgz)
	a.image("own", "application/vnd.example.thing", tgz)
	a.manifest(v1.MediaTypeImageIndex, "nothing", v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex})
	for tag, want := range map[string]string{
		"os":        "it is an ordinary container image, which has no SKILL.md",
		"called":    "the artifact is called a skill, but has no SKILL.md",
		"chart":     "the artifact is a Helm chart",
		"signature": "the artifact is a signature",
		"wasm":      "the artifact is a WebAssembly module",
		"own":       `the artifact of type "application/vnd.example.thing" has no SKILL.md`,
		"nothing":   "the index has no image",
	} {
		_, _, err := fetch(t, New(nil), named(a.location(), tag))
		if got := refusal(t, err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", tag, got)
		}
	}
}
