const { Command } = require('commander');
const { parse, stringify } = require('csv');
const fs = require('fs');

const options = [
  ['-d, --delimiter <char>', 'character between columns', ','],
  ['-e, --encoding <name>', 'encoding of the file', 'utf8'],
];

const program = new Command();
program.name('csv-tools');

const select = program.command('select <file>').description('keep some columns');
select.option('-c, --columns <names...>', 'columns to keep');
for (const [flags, text, fallback] of options) {
  select.option(flags, text, fallback);
}
select.action((file, opts) => {
  fs.createReadStream(file, opts.encoding).pipe(parse({ delimiter: opts.delimiter, columns: true }));
});

const sort = program.command('sort <file>').description('sort by a column');
sort.requiredOption('-b, --by <column>', 'column to sort by');
sort.option('-r, --reverse', 'largest first');
for (const [flags, text, fallback] of options) {
  sort.option(flags, text, fallback);
}
sort.action((file, opts) => {
  console.log(file, opts.by, opts.reverse);
});

program.parse(process.argv);
