import { parseArgs } from 'node:util';
import { PrismaClient } from '@prisma/client';

const options = {
  users: { type: 'string', default: '10' },
  posts: { type: 'string', default: '50' },
  reset: { type: 'boolean', default: false },
  environment: { type: 'string' },
} as const;

async function main() {
  const { values: { users, posts, reset, environment } } = parseArgs({ options });
  if (environment === 'production') throw new Error('not in production');
  const prisma = new PrismaClient();
  if (reset) await prisma.user.deleteMany({});
  for (let i = 0; i < Number(users); i++) await prisma.user.create({ data: { name: `user ${i}` } });
  console.log(`${users} users, ${posts} posts`);
}

main();
