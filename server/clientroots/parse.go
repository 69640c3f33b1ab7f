package clientroots

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// maxRoots is how many of a client's roots are looked at.
const maxRoots = 8

// parse returns the folders that an answer to roots/list names. What is no
// file:// URI of this machine is left out.
func parse(answer []byte) (folders []string, err error) {
	var list struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, fmt.Errorf("read roots: %w", err)
	}
	for _, root := range list.Roots {
		folder, err := folderOf(root.URI)
		if err == nil && len(folders) < maxRoots {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

// folderOf returns the absolute, clean path of a file:// URI (RFC 8089).
func folderOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "file", u.Host != "" && u.Host != "localhost", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("not a file of this machine")
	}
	path := filepath.FromSlash(u.Path)
	if drive := strings.TrimPrefix(path, string(filepath.Separator)); filepath.VolumeName(drive) != "" {
		path = drive // file:///C:/shop
	}
	// Two separators begin the name of another machine's folder on Windows.
	if !filepath.IsAbs(path) || strings.HasPrefix(filepath.ToSlash(path), "//") || strings.ContainsRune(path, 0) {
		return "", errors.New("not an absolute path")
	}
	return filepath.Clean(path), nil
}
