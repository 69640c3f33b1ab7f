import { randomUUID } from 'node:crypto';
const n = parseInt(process.argv[2]) || 1;
for (let i = 0; i < n; i++) console.log(randomUUID());
