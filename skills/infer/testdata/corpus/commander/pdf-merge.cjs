#!/usr/bin/env node
const { program, Option } = require('commander');
const { PDFDocument } = require('pdf-lib');
const fs = require('fs');

program
  .description('Merge PDF files into one')
  .argument('<output>', 'file to write')
  .argument('<inputs...>', 'files to merge, in order')
  .addOption(new Option('-p, --paper <size>', 'scale pages to a paper size').choices(['a4', 'letter']))
  .option('--title <text>', 'title of the document')
  .option('--bookmarks', 'one bookmark for each file');

program.parse();

(async () => {
  const [output, ...inputs] = program.args;
  const merged = await PDFDocument.create();
  for (const input of inputs) {
    const doc = await PDFDocument.load(fs.readFileSync(input));
    const pages = await merged.copyPages(doc, doc.getPageIndices());
    pages.forEach((p) => merged.addPage(p));
  }
  const { title } = program.opts();
  if (title) merged.setTitle(title);
  fs.writeFileSync(output, await merged.save());
})();
