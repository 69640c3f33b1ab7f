import { parseArgs } from 'node:util';

interface Args { title: string; body?: string; urgent: boolean }

function readArgs(): Args {
  const { values } = parseArgs({
    options: {
      title: { type: 'string', short: 't' },
      body: { type: 'string', short: 'b' },
      urgent: { type: 'boolean', short: 'u', default: false },
    },
  });
  if (values.title === undefined) throw new Error('title is missing');
  return { title: values.title, body: values.body, urgent: values.urgent! };
}

const args = readArgs();
await fetch(process.env.WEBHOOK_URL!, { method: 'POST', body: JSON.stringify(args) });
