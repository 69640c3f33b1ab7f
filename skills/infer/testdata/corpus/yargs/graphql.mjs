import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
const builder = {
  endpoint: { type: 'string', demandOption: true, describe: 'address of the API' },
  variables: { type: 'string', default: '{}', describe: 'JSON of the variables' },
  header: { type: 'array', describe: 'further headers' },
};
const argv = yargs(hideBin(process.argv)).command('$0 <query>', 'run a query', builder).parse();
const res = await fetch(argv.endpoint, { method: 'POST', body: JSON.stringify({ query: argv.query, variables: JSON.parse(argv.variables) }) });
console.log(await res.text());
