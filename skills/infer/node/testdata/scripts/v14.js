#!/usr/bin/env node
'use strict';
const fs = require('fs'), path = require('path');
const file = process.argv[2];
const mode = process.argv[3] || 'check';
if (!file || file === '--help') { console.error(`Usage: ${path.basename(process.argv[1])} <file> [mode]

Arguments:
  file   the file to read
  mode   check or fix`); process.exit(file ? 0 : 1); }
const n = parseInt(process.argv[4], 10) || 10;
fs.readFileSync(file);
