import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const opts = { port: { type: 'string', short: 'p' }, latency: { type: 'string', short: 'l' }, status: { type: 'string' } };
const port = Number(parseArgs({ options: opts }).values.port ?? 3001);
const { latency = '0', status = '200' } = parseArgs({ options: opts }).values;
createServer((req, res) => setTimeout(() => res.writeHead(Number(status)).end('{}'), Number(latency))).listen(port);
