const fs = require('fs');
const commander = require('commander');

const program = new commander.Command();
const FILE = process.env.TODO_FILE || 'todo.json';
const load = () => (fs.existsSync(FILE) ? JSON.parse(fs.readFileSync(FILE, 'utf8')) : []);
const save = (items) => fs.writeFileSync(FILE, JSON.stringify(items, null, 2));

program
  .command('add')
  .description('Add an item')
  .argument('<text...>', 'words of the item')
  .option('-p, --priority <level>', 'priority', 'normal')
  .action((text, { priority }) => {
    save([...load(), { text: text.join(' '), priority, done: false }]);
  });

program
  .command('list')
  .alias('ls')
  .description('List the items')
  .option('-a, --all', 'also those that are done')
  .action(({ all }) => {
    load().forEach((item, i) => {
      if (all || !item.done) console.log(`${i + 1}. ${item.text} [${item.priority}]`);
    });
  });

program
  .command('done')
  .description('Mark an item as done')
  .argument('<number>', 'number of the item', parseInt)
  .action((number) => {
    const items = load();
    items[number - 1].done = true;
    save(items);
  });

program.parse(process.argv);
