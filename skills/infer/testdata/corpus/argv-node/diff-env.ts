import * as fs from 'fs';

const first = process.argv[2] || '.env';
const second = process.argv[3] || '.env.example';
const keys = (path: string): string[] => fs.readFileSync(path, 'utf8').split('\n').filter(Boolean).map((l) => l.split('=')[0]);
const a = keys(first);
const b = keys(second);
console.log('only in', first, a.filter((k) => !b.includes(k)));
console.log('only in', second, b.filter((k) => !a.includes(k)));
