//go:build !linux

package heap

func unmapProgram() {}
