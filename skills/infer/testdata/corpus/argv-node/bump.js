#!/usr/bin/env node
'use strict';
const fs = require('fs');

const part = process.argv[2] || 'patch';
const valid = ['major', 'minor', 'patch'];
if (!valid.includes(part)) {
  console.error(`Expected one of ${valid.join(', ')}`);
  process.exit(1);
}
const pkg = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const v = pkg.version.split('.').map(Number);
const i = valid.indexOf(part);
v[i]++;
for (let j = i + 1; j < 3; j++) v[j] = 0;
pkg.version = v.join('.');
fs.writeFileSync('package.json', JSON.stringify(pkg, null, 2) + '\n');
console.log(pkg.version);
