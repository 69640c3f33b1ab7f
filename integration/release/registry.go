package main

import "path"

// An asset is a file of the release.
type asset struct {
	name   string
	sha256 string // in hex
}

// registered is a release to announce to the registry.
type registered struct {
	module  string // github.com/OWNER/REPOSITORY
	version string
	assets  []asset
}

// A serverJSON has the fields of the registry's schema of 2025-12-11, the newest
// (github.com/modelcontextprotocol/registry, docs/reference/server-json).
type serverJSON struct {
	Schema      string     `json:"$schema"`
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Repository  repository `json:"repository"`
	Version     string     `json:"version"`
	WebsiteURL  string     `json:"websiteUrl"`
	Packages    []download `json:"packages"`
}

type repository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

// A download is a package of the registry's type "mcpb", whose identifier is its
// address.
type download struct {
	RegistryType string    `json:"registryType"`
	Identifier   string    `json:"identifier"`
	Version      string    `json:"version"`
	FileSHA256   string    `json:"fileSha256"`
	Transport    transport `json:"transport"`
}

type transport struct {
	Type string `json:"type"`
}

// server returns the content of server.json. The name is in the namespace that the
// registry gives to the owner of the repository.
func (r registered) server() serverJSON {
	home := "https://" + r.module
	s := serverJSON{
		Schema:      "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:        "io.github." + path.Base(path.Dir(r.module)) + "/" + path.Base(r.module),
		Title:       title,
		Description: description,
		Repository:  repository{home, "github"},
		Version:     r.version,
		WebsiteURL:  home,
	}
	for _, a := range r.assets {
		s.Packages = append(s.Packages, download{
			"mcpb", home + "/releases/download/v" + r.version + "/" + a.name, r.version, a.sha256, transport{"stdio"},
		})
	}
	return s
}
