#!/usr/bin/env node
const mri = require('mri');
const esbuild = require('esbuild');

const argv = mri(process.argv.slice(2), {
  alias: { m: 'minify', o: 'outfile' },
  boolean: ['minify', 'watch'],
  string: ['outfile', 'target'],
  default: { target: 'es2020', outfile: 'dist/index.js' },
});
esbuild.build({ entryPoints: argv._, bundle: true, minify: argv.minify, outfile: argv.outfile, target: argv.target });
