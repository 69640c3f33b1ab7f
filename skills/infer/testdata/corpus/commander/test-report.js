'use strict';
const { Command } = require('commander');
const fs = require('fs');

const cmd = new Command('test-report');
cmd.arguments('<junit>');
cmd.option('-o --out <file>', 'report to write', 'report.md');
cmd.option('--slow <ms>', 'what counts as slow', 1000);
cmd.option('-f|--failed', 'failed tests only');
cmd.parse(process.argv);
const xml = fs.readFileSync(cmd.args[0], 'utf8');
const o = cmd.opts();
fs.writeFileSync(o.out, `${xml.length} bytes, slow from ${o.slow}, ${o.failed}`);
