#!/usr/bin/env node
import { run } from '@acme/cli-kit';

await run(process.argv.slice(2));
