import minimist from 'minimist';
const argv = minimist(process.argv.slice(2), { alias: { d: 'deck', s: 'shuffle' }, boolean: ['shuffle'], string: ['deck'] });
const deck: string = argv.deck ?? 'default';
console.log(deck, argv.shuffle);
