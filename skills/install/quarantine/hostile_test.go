package quarantine

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pack is one entry of a hostile archive.
type pack struct {
	name, body string
	kind       byte // of tar; 0 is a file
	link       string
	mode       int64
}

func file(name string) pack            { return pack{name: name, body: "content"} }
func symlink(name, target string) pack { return pack{name: name, kind: tar.TypeSymlink, link: target} }
func hardlink(name, target string) pack {
	return pack{name: name, kind: tar.TypeLink, link: target}
}

// packTar returns a tar file.
func packTar(entries ...pack) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.mode == 0 {
			e.mode = 0o644
		}
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Mode: e.mode, Size: int64(len(e.body))}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		io.WriteString(w, e.body)
	}
	w.Close()
	return b.Bytes()
}

func gzipped(parts ...[]byte) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		w.Write(part)
		w.Close()
	}
	return b.Bytes()
}

func packTarGzip(entries ...pack) []byte { return gzipped(packTar(entries...)) }

// packZip returns a ZIP file. Hard links are files there.
func packZip(entries ...pack) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := fs.FileMode(0o644)
		switch e.kind {
		case tar.TypeSymlink:
			mode, e.body = fs.ModeSymlink|0o777, e.link
		case tar.TypeFifo:
			mode |= fs.ModeNamedPipe
		case tar.TypeChar, tar.TypeBlock:
			mode |= fs.ModeDevice
		}
		if e.mode&0o4000 != 0 {
			mode |= fs.ModeSetuid | fs.FileMode(e.mode&0o777)
		}
		if e.kind == tar.TypeDir {
			h.Name = strings.TrimSuffix(h.Name, "/") + "/"
			mode = fs.ModeDir | 0o755
		}
		h.SetMode(mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			panic(err)
		}
		io.WriteString(to, e.body)
	}
	w.Close()
	return b.Bytes()
}

// edited returns an archive after a change of its bytes.
func edited(archive []byte, change func(b []byte)) []byte {
	change(archive)
	return archive
}

// at returns where the n-th header with a signature of a ZIP file begins.
func at(b []byte, signature string, n int) int {
	from := 0
	for range n {
		from += bytes.Index(b[from:], []byte(signature)) + 1
	}
	return from + bytes.Index(b[from:], []byte(signature))
}

const (
	local     = "PK\x03\x04"
	directory = "PK\x01\x02"
)

// overlapping returns a ZIP file with two entries of the same bytes.
func overlapping() []byte {
	b := packZip(file("a"), file("a"))
	binary.LittleEndian.PutUint32(b[at(b, directory, 1)+42:], 0) // where its header is
	return b
}

// packRaw returns a ZIP file with the sizes of a file in the fields for large ones.
func packRaw(size, packed uint64) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	to, err := w.CreateRaw(&zip.FileHeader{Name: "a", UncompressedSize64: size, CompressedSize64: packed})
	if err != nil {
		panic(err)
	}
	io.WriteString(to, "text")
	w.Close()
	return b.Bytes()
}

// lying returns a ZIP file whose directory, or header beside the file, has another size.
func lying(signature string, field int, size uint32) []byte {
	b := packZip(pack{name: "a", body: strings.Repeat("0", 1<<20)})
	if signature == local {
		b[at(b, local, 0)+6] &^= 1 << 3 // the sizes are not behind it
	}
	binary.LittleEndian.PutUint32(b[at(b, signature, 0)+field:], size)
	return b
}

// sparse returns a tar file with a file of a terabyte of nothing, in the format of PAX
// 1.0.
func sparse() []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	body := "1\n1099511627776\n0\n" + strings.Repeat("\x00", 512-len("1\n1099511627776\n0\n"))
	records := map[string]string{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a", "GNU.sparse.realsize": "1099511627776"}
	h := &tar.Header{Name: "x", Typeflag: tar.TypeReg, Size: int64(len(body)), Mode: 0o644, Format: tar.FormatPAX}
	// The writer refuses such records: names of the same length, which are put right in
	// the bytes.
	h.PAXRecords = map[string]string{}
	for k, v := range records {
		h.PAXRecords[strings.Replace(k, "GNU.sparse", "GNV.sparse", 1)] = v
	}
	if err := w.WriteHeader(h); err != nil {
		panic(err)
	}
	io.WriteString(w, body)
	w.Close()
	return bytes.ReplaceAll(b.Bytes(), []byte("GNV.sparse"), []byte("GNU.sparse"))
}

// bomb returns a gzip file, many times smaller than its content, of size bytes.
func bomb(size int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: int64(size), Mode: 0o644})
	zeros := make([]byte, 1<<20)
	for written := 0; written < size; written += len(zeros) {
		w.Write(zeros)
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func many(n int, name string) []pack {
	var all []pack
	for i := range n {
		all = append(all, pack{name: fmt.Sprintf(name, i)})
	}
	return all
}

// testLimits are smaller than the defaults.
var testLimits = Limits{Files: 100, File: 1 << 20, Total: 4 << 20, Depth: 8}

// both runs a case as a tar.gz and as a ZIP file.
type hostile struct {
	name    string
	entries []pack
	raw     []byte // in place of entries
	want    string // part of the error; "" is accepted
	left    string // part of the error of a link that is left out
	files   string // what is there then
	note    string // part of a note
}

func hostileCases() []hostile {
	return []hostile{
		{name: "an honest one", entries: []pack{{name: "a/", kind: tar.TypeDir}, file("a/SKILL.md"), {name: "a/run", body: "x", mode: 0o755}, symlink("a/link", "SKILL.md")}, files: "a a/SKILL.md a/link a/run"},
		{name: "an odd but honest one", entries: []pack{{name: "./", kind: tar.TypeDir}, file("./a//b"), {name: "a/./", kind: tar.TypeDir}}, files: "a a/b"},
		{name: "emoji and joined letters", entries: []pack{file("❤️"), file("क्\u200dष")}, files: "क्\u200dष ❤️"},

		{name: "traversal", entries: []pack{file("../canary")}, want: `"../canary": its path leads out`},
		{name: "traversal in the middle", entries: []pack{file("a/../../canary")}, want: "its path leads out"},
		{name: "traversal that returns", entries: []pack{file("a/../b")}, want: "its path leads out"},
		{name: "absolute", entries: []pack{file("/etc/passwd")}, want: `"/etc/passwd": its path is absolute`},
		{name: "a drive", entries: []pack{file("C:/Windows/a")}, want: "its path is absolute"},
		{name: "backslashes", entries: []pack{file(`..\canary`)}, want: "its path has a backslash"},
		{name: "a share", entries: []pack{file(`\\host\share`)}, want: "its path has a backslash"},
		{name: "deep", entries: []pack{file(strings.Repeat("a/", 8) + "b")}, want: "more than 8 folders deep"},
		{name: "a long name", entries: []pack{file(strings.Repeat("a", 256))}, want: "longer than 255 bytes"},
		{name: "a long path", entries: []pack{file(strings.Repeat("a/", 600) + "b")}, want: "longer than 1024 bytes"},
		{name: "no name", entries: []pack{file(".")}, want: "a file has no name"},

		{name: "a link out", entries: []pack{symlink("a", "../canary")}, left: `"a": the link to "../canary" leads out`},
		{name: "an absolute link", entries: []pack{symlink("a", "/etc/passwd")}, left: "leads to an absolute path"},
		{name: "a link to nothing", entries: []pack{symlink("a", "b")}, left: "leads to nothing"},
		{name: "a link through a file", entries: []pack{file("b"), symlink("a", "b/../b")}, left: "leads to nothing", files: "b"},
		{name: "a file through a link", entries: []pack{symlink("a", "../outside"), file("a/evil")}, want: `"a/evil": "a" is a file and a folder`},
		{name: "a file in the place of a link", entries: []pack{symlink("a", "b"), file("b"), file("a")}, want: "two files of this name"},
		{name: "links in a chain that leads out", entries: []pack{symlink("a", "b/../.."), symlink("b", "c"), {name: "c/", kind: tar.TypeDir}}, left: "leads out", files: "b c"},
		{name: "a link and a folder that lead out together", entries: []pack{{name: "x/y", kind: tar.TypeDir}, symlink("x/y/up", "../.."), symlink("evil", "x/y/up/../outside")}, left: "leads out", files: "x x/y"},
		{name: "links in a circle", entries: []pack{symlink("a", "b"), symlink("b", "a")}, left: "leads in a circle"},
		{name: "a long chain", entries: append(func() (all []pack) {
			for i := range 20 {
				all = append(all, symlink(fmt.Sprint(i), fmt.Sprint(i+1)))
			}
			return all
		}(), file("20")), left: "over more than 7 others", files: "12 13 14 15 16 17 18 19 20"},
		{name: "a link over one that leads out", entries: []pack{symlink("a/x", "/etc"), symlink("b", "a/x/passwd"), file("c")}, left: `the link to "a/x/passwd" leads to an absolute path`, files: "a c"},
		{name: "a link over one that leads back", entries: []pack{file("a/f"), symlink("a/self", "."), symlink("b", "a/self/f")}, left: `the link to "a/self/f" leads to a folder`, files: "a a/f"},
		{name: "a link to its folder", entries: []pack{file("a/b"), symlink("a/c", ".")}, left: "leads to a folder that leads back to it", files: "a a/b"},
		{name: "links to folders in a circle", entries: []pack{file("a/f"), file("b/f"), symlink("a/x", "../b"), symlink("b/y", "../a")}, left: "leads to a folder that leads back to it", files: "a a/f a/x b b/f"},
		{name: "a link without a target", entries: []pack{symlink("a", "")}, left: "has a target that is empty"},
		{name: "a link with a huge target", entries: []pack{symlink("a", strings.Repeat("x/", 2000))}, left: "longer than 1024 bytes"},
		{name: "a good chain", entries: []pack{file("x/f"), symlink("a", "b"), symlink("b", "x/f")}, files: "a b x x/f"},

		{name: "a hard link", raw: packTarGzip(file("a"), hardlink("b", "a")), files: "a b"},
		{name: "a hard link out", raw: packTarGzip(hardlink("b", "../canary")), want: "its path leads out"},
		{name: "an absolute hard link", raw: packTarGzip(hardlink("b", "/etc/passwd")), want: "its path is absolute"},
		{name: "a hard link to nothing", raw: packTarGzip(hardlink("b", "a")), want: "the hard link leads to no file"},
		{name: "a hard link to a link", raw: packTarGzip(symlink("a", "../canary"), hardlink("b", "a")), want: "the hard link leads to no file"},
		{name: "hard links as a bomb", raw: packTarGzip(append([]pack{{name: "a", body: strings.Repeat("0", 1<<20)}}, hardlink("b", "a"), hardlink("c", "a"), hardlink("d", "a"), hardlink("e", "a"))...), want: `"e": with it all files are larger than 4 MB`},

		{name: "a pipe", entries: []pack{{name: "a", kind: tar.TypeFifo}}, want: "neither a file nor a folder"},
		{name: "a character device", entries: []pack{{name: "a", kind: tar.TypeChar}}, want: "neither a file nor a folder"},
		{name: "a block device", entries: []pack{{name: "a", kind: tar.TypeBlock}}, want: "neither a file nor a folder"},
		{name: "setuid and setgid", entries: []pack{{name: "a", body: "x", mode: 0o7755}}, files: "a"},
		{name: "a folder that nobody may write to", entries: []pack{{name: "a/", kind: tar.TypeDir, mode: 0o400}, file("a/b")}, files: "a a/b"},

		{name: "a name twice", entries: []pack{file("a"), file("a")}, want: "two files of this name"},
		{name: "a name twice, in other words", entries: []pack{file("a/b"), file("./a//b")}, want: "two files of this name"},
		{name: "a file and a folder", entries: []pack{file("a"), file("a/b")}, want: `"a" is a file and a folder`},
		{name: "names that differ in case", entries: []pack{file("SKILL.md"), file("skill.md")}, want: `"skill.md": some machines take it for "SKILL.md"`},
		{name: "folders that differ in case", entries: []pack{file("a/b"), file("A/c")}, want: `"A/c": some machines take it for "a"`},
		{name: "names that differ in their Unicode form", entries: []pack{file("caf\u00e9"), file("cafe\u0301")}, want: "some machines take it for"},
		{name: "names that differ in case beyond ASCII", entries: []pack{file("STRASSE"), file("stra\u00dfe")}, want: "some machines take it for"},
		{name: "the sign of Kelvin", entries: []pack{file("k"), file("\u212a")}, want: "some machines take it for"},
		{name: "names that differ in a joiner", entries: []pack{file("क्ष"), file("क्\u200dष")}, want: "some machines take it for"},

		{name: "an escape sequence", entries: []pack{file("a\x1b[2Jb")}, want: `"a\x1b[2Jb": its name is not UTF-8, or has control characters`},
		{name: "a line end", entries: []pack{file("a\nb")}, want: "control characters"},
		{name: "C1 controls", entries: []pack{file("a\u009b2J")}, want: "control characters"},
		{name: "the other direction", entries: []pack{file("a\u202egpj.exe")}, want: "\"a\\u202egpj.exe\": its name has the invisible character U+202E"},
		{name: "no width", entries: []pack{file("a\u200bb")}, want: "the invisible character U+200B"},
		{name: "tags", entries: []pack{file("a\U000e0041")}, want: "the invisible character U+E0041"},
		{name: "no UTF-8", entries: []pack{file("a\xff")}, want: "its name is not UTF-8"},

		{name: "a device of Windows", entries: []pack{file("aux.md")}, files: "aux.md", note: "a device of Windows"},
		{name: "a stream of NTFS", entries: []pack{file("ab:c")}, files: "ab:c", note: "Windows has no names"},
		{name: "a dot at the end", entries: []pack{file("a./b")}, files: "a. a./b", note: "Windows leaves out the dot"},
		{name: "hooks", entries: []pack{file("SKILL.md"), file(".git/hooks/post-checkout"), file("a/.GIT/config"), file("b/GIT~1/config"), symlink("c/.git", "../..")}, files: "SKILL.md", note: "files of a git repository are left out"},

		{name: "a bare repository", entries: []pack{file("SKILL.md"), file("a/HEAD"), file("a/config"), file("a/objects/info"), file("a/refs/heads/main")}, want: `"a": git takes the folder for a repository`},
		{name: "a bare repository in capitals, with links", entries: []pack{file("head"), file("x/f"), symlink("Objects", "x"), symlink("REFS", "x")}, want: `".": git takes the folder for a repository`},
		{name: "no bare repository", entries: []pack{file("HEAD"), file("a/objects/x"), file("refs/y")}, files: "HEAD a a/objects a/objects/x refs refs/y"},
		{name: "too many", entries: many(101, "%d"), want: "there are more than 100 files and folders"},
		{name: "too many folders", entries: many(60, "%d/f"), want: "there are more than 100 files and folders"},
		{name: "the same folder for ever", raw: packTarGzip(slices.Repeat([]pack{{name: "a/", kind: tar.TypeDir}}, 1000)...), want: "there are more than 100 files and folders"},
		{name: "too large a file", entries: []pack{{name: "a", body: strings.Repeat("0", 1<<20+1)}}, want: `"a": it is larger than 1 MB`},
		{name: "too large together", entries: []pack{{name: "a", body: strings.Repeat("0", 1<<20)}, {name: "b", body: strings.Repeat("0", 1<<20)}, {name: "c", body: strings.Repeat("0", 1<<20)}, {name: "d", body: strings.Repeat("0", 1<<20)}, file("e")}, want: `"e": with it all files`},
		{name: "a bomb of 20 MB", raw: bomb(20 << 20), want: `"a": it is larger than 1 MB`},
		{name: "a bomb behind the last entry", raw: append(packTarGzip(file("a")), bytes.Repeat(gzipped(make([]byte, 1<<20)), 80)...), want: "the archive unpacks to more than 4 MB"},
		{name: "several gzip members", raw: gzipped(packTar(file("a"))[:700], packTar(file("a"))[700:]), files: "a"},
		{name: "headers of many MB", raw: gzipped(hugeHeaders()), want: "the archive is not whole"},
		{name: "a terabyte of nothing", raw: gzipped(sparse()), want: `"a": it is larger than 1 MB`},
		{name: "a file that is longer than it says", raw: lying(directory, 24, 10), want: "the archive is not whole"},
		{name: "headers that differ in size", raw: lying(local, 22, 10), want: "header beside the file"},
		{name: "headers that differ in name", raw: edited(packZip(file("a"), file("b")), func(b []byte) { b[at(b, local, 1)+30] = 'c' }), want: `"b": the archive's directory and the header beside the file ("c") differ`},
		{name: "files in each other", raw: overlapping(), want: "it lies in the bytes of"},
		{name: "a size of an exabyte", raw: packRaw(1<<60, 4), want: `"a": it is larger than 1 MB`},
		{name: "a packed size of an exabyte", raw: packRaw(4, 1<<60), want: "the archive is not whole"},
		{name: "an encrypted file", raw: edited(packZip(file("a")), func(b []byte) { b[at(b, directory, 0)+8] |= 1 }), want: `"a": it is encrypted`},
		{name: "a wrong checksum", raw: edited(packZip(file("a")), func(b []byte) { b[at(b, directory, 0)+16] ^= 1 }), want: `"a": the archive is not whole: zip: checksum error`},
		{name: "a million entries that are not there", raw: edited(packZip(file("a")), func(b []byte) {
			end := b[len(b)-22:]
			binary.LittleEndian.PutUint16(end[8:], 65535)
			binary.LittleEndian.PutUint16(end[10:], 65535)
		}), want: "no whole ZIP file"},
		{name: "half a ZIP file", raw: packZip(file("a"))[:60], want: "no whole ZIP file"},
		{name: "half a tar.gz file", raw: packTarGzip(file("a"))[:60], want: "the archive is not whole"},
		{name: "a tar file that ends in an entry", raw: packTar(file("a"))[:515], want: `"a": the archive is not whole`},
		{name: "a tar file whose size lies", raw: edited(packTar(file("a")), func(b []byte) { copy(b[124:], "00000700000\x00"); checksum(b) }), want: `"a": the archive is not whole`},
		{name: "a tar file whose size lies, and is huge", raw: edited(packTar(file("a")), func(b []byte) { copy(b[124:], "77777777777\x00"); checksum(b) }), want: `"a": it is larger than 1 MB`},
		{name: "no archive", raw: []byte("<!doctype html>"), want: "neither a ZIP nor a tar.gz file"},
		{name: "nothing", raw: []byte{}, want: "neither a ZIP nor a tar.gz file"},
	}
}

// hugeHeaders returns a tar file with a PAX header of 8 MB.
func hugeHeaders() []byte {
	size := 8 << 20
	return edited(packTar(pack{name: "a", body: fmt.Sprintf("%d X.y=", size) + strings.Repeat("z", size-13) + "\n"}, file("b")), func(b []byte) {
		b[156] = 'x'
		checksum(b)
	})
}

// checksum puts the checksum of a tar header right.
func checksum(b []byte) {
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
}

// TestHostile unpacks hostile archives, as tar.gz and as ZIP, beside files that must
// stay the same.
func TestHostile(t *testing.T) {
	for _, test := range hostileCases() {
		archives := map[string][]byte{"": test.raw}
		if test.raw == nil {
			archives = map[string][]byte{" (tar.gz)": packTarGzip(test.entries...), " (ZIP)": packZip(test.entries...)}
		}
		for kind, archive := range archives {
			t.Run(test.name+kind, func(t *testing.T) {
				t.Parallel()
				host := newHost(t)
				before := listing(t, host, true)
				f, err := New(filepath.Join(host, "quarantines"), &testLimits)
				if err != nil {
					t.Fatal(err)
				}
				err = f.Unpack(t.Context(), bytes.NewReader(archive), int64(len(archive)), "")
				if err == nil {
					err = f.Seal()
				}
				test.check(t, f, err)
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				if after := listing(t, host, true); after != before {
					t.Errorf("the host has changed:\n%s\nit was\n%s", after, before)
				}
			})
		}
	}
}

func (test *hostile) check(t *testing.T, f *Folder, err error) {
	t.Helper()
	var fault *Error
	switch {
	case test.want == "" && err != nil:
		t.Error(err)
	case test.want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), test.want)):
		t.Errorf("%v\nwant %s", err, test.want)
	case test.want == "":
		left := fmt.Sprint(slices.Sorted(maps.Values(texts(f.LeftOut()))))
		if !strings.Contains(left, test.left) || test.left == "" && left != "[]" {
			t.Errorf("left out %s, want %s", left, test.left)
		}
		if got := listing(t, f.Path(), false); got != test.files {
			t.Errorf("it has %q, want %q", got, test.files)
		}
		if got := strings.Join(f.Notes(), "\n"); !strings.Contains(got, test.note) || test.note == "" && got != "" {
			t.Errorf("notes %q, want %q", got, test.note)
		}
	}
	fs.WalkDir(os.DirFS(f.Path()), ".", func(name string, e fs.DirEntry, _ error) error {
		info, err := e.Info()
		if err != nil || info.Mode()&^(fs.ModePerm|fs.ModeDir|fs.ModeSymlink) != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		return nil
	})
}

// texts returns the errors by name as texts.
func texts(faults map[string]error) map[string]string {
	all := map[string]string{}
	for name, err := range faults {
		all[name] = err.Error()
	}
	return all
}

// newHost returns a folder with files that must stay the same.
func newHost(t *testing.T) string {
	host := t.TempDir()
	for _, dir := range []string{"outside", "quarantines"} {
		if err := os.Mkdir(filepath.Join(host, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"canary", "outside/canary", "quarantines/canary"} {
		if err := os.WriteFile(filepath.Join(host, name), []byte("alive"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

// listing returns the names below a folder, and the modes and contents as well if all.
func listing(t *testing.T, dir string, all bool) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		line, _ := filepath.Rel(dir, name)
		if all {
			info, err := e.Info()
			if err != nil {
				return err
			}
			content, _ := os.ReadFile(name)
			line = fmt.Sprintf("%s %s %x\n", line, info.Mode(), sha256.Sum256(content))
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, " ")
}

// TestMillion shows that a million entries cost as much as the limit.
func TestMillion(t *testing.T) {
	t.Parallel()
	for kind, archive := range map[string][]byte{"tar.gz": millionTar(), "ZIP": millionZip()} {
		f := newFolder(t, &Limits{Files: 1000, Total: 1 << 30})
		began := time.Now()
		err := f.Unpack(t.Context(), bytes.NewReader(archive), int64(len(archive)), "")
		if err == nil || !strings.Contains(err.Error(), "more than 1000 files") && !strings.Contains(err.Error(), "list of entries is longer than 4 MB") {
			t.Errorf("%s: %v", kind, err)
		}
		if n := strings.Count(listing(t, f.Path(), false), " "); n >= 1000 {
			t.Errorf("%s: %d files were written", kind, n)
		}
		t.Logf("%s of %d MB, ended after %s", kind, len(archive)>>20, time.Since(began))
	}
}

// millionTar returns entries in a thousand gzip members, of which all but the first are
// the same.
func millionTar() []byte {
	header := packTar(file("0000000"))[:512]
	copy(header[124:], "00000000000\x00")
	var first, other []byte
	for i := range 2000 {
		copy(header, fmt.Sprintf("%07d", i))
		checksum(header)
		if first = append(first, header...); i < 1000 {
			other = append(other, header...)
		}
	}
	return append(gzipped(first), bytes.Repeat(gzipped(other), 998)...)
}

func millionZip() []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 1_000_000 {
		w.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)})
	}
	w.Close()
	return b.Bytes()
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for kind, archive := range map[string][]byte{"tar.gz": packTarGzip(file("a")), "zip": packZip(file("a"))} {
		f := newFolder(t, nil)
		if err := f.Unpack(ctx, bytes.NewReader(archive), int64(len(archive)), ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// FuzzUnpack finds no archive that harms the host or breaks a limit.
func FuzzUnpack(f *testing.F) {
	for _, test := range hostileCases() {
		archives := [][]byte{test.raw}
		if test.raw == nil {
			archives = [][]byte{packTarGzip(test.entries...), packTar(test.entries...), packZip(test.entries...)}
		}
		for _, archive := range archives {
			if len(archive) < 1<<13 { // large ones are slow
				f.Add(archive)
			}
		}
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		host := newHost(t)
		before := listing(t, host, true)
		q, err := New(filepath.Join(host, "quarantines"), &testLimits)
		if err != nil {
			t.Fatal(err)
		}
		if err = q.Unpack(t.Context(), bytes.NewReader(archive), int64(len(archive)), "in"); err == nil {
			err = q.Seal()
		}
		var fault *Error
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("%v is no error of the archive", err)
		}
		checkInside(t, q)
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if after := listing(t, host, true); after != before {
			t.Errorf("the host has changed:\n%s", after)
		}
	})
}

// checkInside checks the limits, and that no link leads out.
func checkInside(t *testing.T, q *Folder) {
	t.Helper()
	var files int
	var total int64
	filepath.WalkDir(q.Path(), func(name string, e fs.DirEntry, _ error) error {
		info, err := e.Info()
		if err != nil {
			t.Error(err)
			return nil
		}
		files++
		switch {
		case info.Mode().IsRegular():
			total += info.Size()
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err := filepath.EvalSymlinks(name); err != nil || !strings.HasPrefix(to, q.Path()) {
				t.Errorf("%s leads to %s, %v", name, to, err)
			}
		}
		return nil
	})
	if files > testLimits.Files+1 || total > testLimits.Total {
		t.Errorf("%d files of %d bytes", files, total)
	}
}
