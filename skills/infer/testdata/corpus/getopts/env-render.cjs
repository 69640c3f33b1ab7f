#!/usr/bin/env node
const getopts = require('getopts');
const fs = require('fs');
const o = getopts(process.argv.slice(2), { string: ['template', 'output'], boolean: ['strict'], alias: { t: 'template', o: 'output' } });
const text = fs.readFileSync(o.template, 'utf8').replace(/\$\{(\w+)\}/g, (m, n) => {
  if (!(n in process.env) && o.strict) throw new Error(`${n} is not set`);
  return process.env[n] || '';
});
o.output ? fs.writeFileSync(o.output, text) : console.log(text);
