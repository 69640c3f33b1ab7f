//go:build !unix

package main

import "io/fs"

// ownedByRoot is for systems that have no such owner.
func ownedByRoot(fs.FileInfo) bool { return false }
