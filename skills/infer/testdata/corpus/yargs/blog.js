#!/usr/bin/env node
const fs = require('fs');
const slug = (title) => title.toLowerCase().replace(/\W+/g, '-');

require('yargs')
  .scriptName('blog')
  .command(
    'new <title>',
    'create a post',
    (y) => {
      y.positional('title', { describe: 'title of the post', type: 'string' })
        .option('draft', { type: 'boolean', default: true, describe: 'mark it as a draft' })
        .option('tags', { type: 'array', describe: 'tags of the post' });
    },
    (argv) => {
      fs.writeFileSync(`posts/${slug(argv.title)}.md`, `---\ntitle: ${argv.title}\ndraft: ${argv.draft}\n---\n`);
    }
  )
  .command('publish <file>', 'publish a draft', {
    date: { type: 'string', describe: 'date of publication' },
  }, (argv) => console.log('publish', argv.file, argv.date))
  .command('list', 'list the posts', () => {}, () => console.log(fs.readdirSync('posts').join('\n')))
  .demandCommand(1)
  .help()
  .parse();
