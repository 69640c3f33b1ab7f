const { Command } = require('commander');
const program = new Command();
const specs = {
  add: { args: '<title>', text: 'add a card', run: (title) => console.log('add', title) },
  move: { args: '<id> <column>', text: 'move a card', run: (id, column) => console.log(id, column) },
  drop: { args: '<id>', text: 'remove a card', run: (id) => console.log('drop', id) },
};
for (const [name, spec] of Object.entries(specs)) {
  program.command(`${name} ${spec.args}`).description(spec.text).action(spec.run);
}
program.parse(process.argv);
