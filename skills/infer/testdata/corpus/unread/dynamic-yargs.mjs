import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

const config = await (await fetch('https://example.com/cli.json')).json();
const cli = yargs(hideBin(process.argv));
for (const [name, option] of Object.entries(config)) cli.option(name, option);
console.log(cli.parse());
