#!/usr/bin/env node
const fs = require('fs');

function main(argv) {
  const [file, path] = argv;
  if (!file || !path) {
    console.error('Usage: json-get.cjs <file> <path>');
    console.error('  file  JSON file to read');
    console.error('  path  path of the value, such as a.b.0');
    return 1;
  }
  let value = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const part of path.split('.')) value = value?.[part];
  console.log(JSON.stringify(value, null, 2));
  return 0;
}

process.exit(main(process.argv.slice(2)));
