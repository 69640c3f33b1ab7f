package main

import (
	"fmt"
	"slices"
	"strings"
)

// A platform is a target of the Go compiler.
type platform struct {
	os, arch string
}

func platforms() []platform {
	var all []platform
	for _, os := range []string{"darwin", "linux", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, platform{os, arch})
		}
	}
	return all
}

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms reads a list such as "linux/amd64,darwin/arm64".
func parsePlatforms(list string) ([]platform, error) {
	var found []platform
	for _, word := range strings.Split(list, ",") {
		i := slices.IndexFunc(platforms(), func(p platform) bool { return p.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("%q is not one of %v", word, platforms())
		}
		found = append(found, platforms()[i])
	}
	return found, nil
}

// node returns the system's name in Node.js, which manifests use.
func (p platform) node() string {
	if p.os == "windows" {
		return "win32"
	}
	return p.os
}

// program returns the file name of the program.
func (p platform) program() string {
	if p.os == "windows" {
		return "skills-mcp.exe"
	}
	return "skills-mcp"
}
