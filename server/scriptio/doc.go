// Package scriptio reads what a script says to the server beside plain output: the
// result object on its standard output, and the progress and log lines on its
// standard error. docs/skill-abi.md describes these forms for authors.
//
// Start with [ParseResult], [ParseProgress] and [ParseLog].
package scriptio
