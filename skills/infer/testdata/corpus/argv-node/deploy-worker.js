#!/usr/bin/env node
const path = require('path');
const { spawnSync } = require('child_process');

const env = process.argv[2];
switch (env) {
  case 'staging':
  case 'production':
    break;
  default:
    console.error(`usage: ${path.basename(process.argv[1])} staging|production`);
    process.exit(2);
}
const { status } = spawnSync('npx', ['wrangler', 'deploy', '--env', env], { stdio: 'inherit' });
process.exit(status);
