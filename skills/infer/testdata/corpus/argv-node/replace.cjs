const fs = require('fs');
const [node, script, from, to, ...files] = process.argv;
if (files.length === 0) {
  console.error('usage: replace.cjs FROM TO FILE...');
  process.exit(2);
}
files.forEach((file) => {
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').split(from).join(to));
  console.log(file);
});
