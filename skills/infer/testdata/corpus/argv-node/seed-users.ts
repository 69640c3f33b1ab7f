#!/usr/bin/env tsx
/** Creates test users. Usage: seed-users.ts [count] [--admin] */
import { db } from './db.ts';

const count = Number.parseInt(process.argv[2] ?? '5', 10);
const admin: boolean = process.argv.includes('--admin');

for (let i = 0; i < count; i++) {
  await db.user.create({ data: { name: `user-${i}`, admin } });
}
console.log(`created ${count} users`);
