// Shows how yargs-parser reads a line, as an example for the documentation.
const parse = require('yargs-parser');

const lines = ['--name x --count 3', '-abc file.txt', '--no-color'];
for (const line of lines) {
  console.log(line, '=>', JSON.stringify(parse(line)));
}
