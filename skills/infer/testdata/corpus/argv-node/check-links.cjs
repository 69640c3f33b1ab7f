const fs = require('fs');
const verbose = process.argv.includes('--verbose') || process.argv.includes('-v');
const files = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));

async function check(file) {
  const links = fs.readFileSync(file, 'utf8').match(/https?:\/\/[^\s)]+/g) || [];
  for (const link of links) {
    const { status } = await fetch(link, { method: 'HEAD' });
    if (status >= 400) console.log(`${file}: ${link} ${status}`);
    else if (verbose) console.log(`${file}: ${link} ok`);
  }
}

Promise.all(files.map(check));
