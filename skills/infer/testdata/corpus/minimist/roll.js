const argv = require('minimist')(process.argv.slice(2));

const sides = argv.sides || 6;
const count = argv.count || 1;
for (let i = 0; i < count; i++) {
  console.log(1 + Math.floor(Math.random() * sides));
}
if (argv.verbose) console.error(`${count} dice with ${sides} sides`);
