// Package soak tests that thousands of calls leave nothing behind.
package soak
