//go:build !man

package main

import "github.com/spf13/cobra"

// addManual adds nothing: only releases have manual pages written.
func addManual(*cobra.Command) {}
