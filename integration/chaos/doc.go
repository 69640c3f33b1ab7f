// Package chaos tests that two servers of one cluster answer every call once, whatever
// restarts meanwhile.
package chaos
