// Package node reads the command line of a JavaScript or TypeScript program from its
// source, without running it: the arguments that are declared with util.parseArgs, or
// that the program reads from process.argv by itself. It makes a JSON Schema of
// them, and of arguments that fit the schema the exact command line.
//
// It evaluates constants and calls of the program's own functions. It finds no command line where anything may declare or read an argument
// that it does not understand, and says why.
//
// Start with [NewModule].
package node

// MaxSource is the maximum size of a source in bytes. Larger ones are bundles, which are
// not understood.
const MaxSource = 256 << 10
