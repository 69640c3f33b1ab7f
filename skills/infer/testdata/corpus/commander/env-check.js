#!/usr/bin/env node
'use strict'
const { program } = require('commander')
const fs = require('fs')

// Compares .env with .env.example.
program
  .option('-e, --example <path>', 'file with the expected names', '.env.example')
  .option('-f, --file <path>', 'file to check', '.env')
  .option('-s, --strict', 'fail on names that are not expected')
  .option('-q, --quiet', 'print nothing')

program.parse(process.argv)

const { example, file, strict, quiet } = program.opts()
const names = (path) => fs.readFileSync(path, 'utf8').split('\n').filter((l) => l.includes('=')).map((l) => l.split('=')[0])
const expected = names(example)
const actual = names(file)
const missing = expected.filter((n) => !actual.includes(n))
const extra = actual.filter((n) => !expected.includes(n))
if (!quiet) {
  missing.forEach((n) => console.log('missing: ' + n))
  extra.forEach((n) => console.log('extra: ' + n))
}
process.exitCode = missing.length || (strict && extra.length) ? 1 : 0
