'use strict';
const { program } = require('commander');
const fs = require('fs');

const separator = ';';
program.requiredOption('-i, --input <path>', 'JSON file with a list');
program.option('-o, --output <path>', 'CSV file');
program.option('-s, --separator <char>', `separator of the columns`, separator);
program.option('-f, --fields <names>', 'columns, separated by commas', (text) => text.split(','));
program.option('-H, --no-header', 'without a header');
program.parse(process.argv);

const options = program.opts();
const rows = JSON.parse(fs.readFileSync(options.input));
const fields = options.fields || Object.keys(rows[0]);
const lines = rows.map((r) => fields.map((f) => r[f]).join(options.separator));
if (options.header) lines.unshift(fields.join(options.separator));
options.output ? fs.writeFileSync(options.output, lines.join('\n')) : console.log(lines.join('\n'));
