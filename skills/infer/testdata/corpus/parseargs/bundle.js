#!/usr/bin/env node
const { parseArgs } = require('node:util');
const esbuild = require('esbuild');

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    outfile: { type: 'string', short: 'o' },
    format: { type: 'string', short: 'f', default: 'esm' },
    external: { type: 'string', short: 'e', multiple: true, default: [] },
    minify: { type: 'boolean', short: 'm', default: false },
    sourcemap: { type: 'boolean', default: false },
  },
});
const [entry] = positionals;
if (!entry) {
  console.error('usage: bundle.js [options] <entry>');
  process.exit(1);
}
esbuild.build({
  entryPoints: [entry],
  bundle: true,
  outfile: values.outfile,
  format: values.format,
  external: values.external,
  minify: values.minify,
  sourcemap: values.sourcemap,
});
