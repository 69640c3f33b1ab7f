// Package packages tests that the files of a release can be installed.
package packages
