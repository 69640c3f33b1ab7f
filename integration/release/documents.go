package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// The documents of an installation: what packages put beside the program.
type documents struct {
	manuals     []file // skills-mcp.1 and one of each command
	completions map[string]file
	desktop     []file // the entry among the applications, by its places in a Linux package
}

// shells have completions of the program; the value is the file of each by its
// custom.
func shells() map[string]string {
	return map[string]string{"bash": "skills-mcp.bash", "fish": "skills-mcp.fish", "zsh": "_skills-mcp", "powershell": "skills-mcp.ps1"}
}

// document runs the program to have its manual pages and completions. It is built for this
// machine, with the command that writes manual pages. Pages have the month of the day.
func document(ctx context.Context, day time.Time) (*documents, error) {
	folder, err := os.MkdirTemp("", "skills-mcp-documents-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program, pages := filepath.Join(folder, "program"), filepath.Join(folder, "man")
	if _, err := goOutput(ctx, "build", "-tags", "man", "-o", program, "./cmd/skills-mcp"); err != nil {
		return nil, err
	}
	output := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		// A configuration of this machine is not in the texts of others.
		cmd.Env = []string{"HOME=" + folder, "XDG_CONFIG_HOME=" + folder, "XDG_CACHE_HOME=" + folder, "XDG_STATE_HOME=" + folder}
		cmd.Stderr = os.Stderr
		return cmd.Output()
	}
	if _, err := output("man", pages, strconv.FormatInt(day.Unix(), 10)); err != nil {
		return nil, fmt.Errorf("write manual pages: %w", err)
	}
	d := &documents{completions: map[string]file{}}
	if d.manuals, err = readFolder(pages); err != nil {
		return nil, err
	}
	for shell, name := range shells() {
		text, err := output("completion", shell)
		if err != nil {
			return nil, fmt.Errorf("write the completion of %s: %w", shell, err)
		}
		d.completions[shell] = file{name, text, 0o644}
	}
	for _, f := range []struct{ name, source string }{
		{"usr/share/applications/skills-mcp.desktop", "cmd/skills-mcp/shortcut/skills-mcp.desktop"},
		{"usr/share/icons/hicolor/scalable/apps/skills-mcp.svg", "server/icon/mark.svg"},
	} {
		data, err := os.ReadFile(filepath.FromSlash(f.source))
		if err != nil {
			return nil, err
		}
		d.desktop = append(d.desktop, file{f.name, data, 0o644})
	}
	return d, nil
}

func readFolder(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	var files []file
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{e.Name(), data, 0o644})
	}
	return files, err
}

// archived returns the files of an archive, below "man" and "completions".
func (d *documents) archived() []file {
	var files []file
	for _, page := range d.manuals {
		files = append(files, file{"man/" + page.name, page.data, page.mode})
	}
	for _, completion := range d.completions {
		files = append(files, file{"completions/" + completion.name, completion.data, completion.mode})
	}
	return files
}

// installed returns the files of a Linux package, by their places there.
func (d *documents) installed() ([]file, error) {
	files := []file{
		{"usr/share/bash-completion/completions/skills-mcp", d.completions["bash"].data, 0o644},
		{"usr/share/fish/vendor_completions.d/skills-mcp.fish", d.completions["fish"].data, 0o644},
		{"usr/share/zsh/vendor-completions/_skills-mcp", d.completions["zsh"].data, 0o644},
	}
	files = append(files, d.desktop...)
	for _, page := range d.manuals {
		data, err := zipped(page.data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"usr/share/man/man1/" + page.name + ".gz", data, 0o644})
	}
	return files, nil
}

// zipped compresses with gzip, without a time or a name.
func zipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}
