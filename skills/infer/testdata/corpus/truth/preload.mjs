// Loaded before a script (node --import): makes the libraries that read command lines
// write their definitions to $DUMP and end the script. See README.md.
import { writeFileSync, readFileSync } from 'node:fs';
import { createRequire, registerHooks, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import util from 'node:util';

const require = createRequire(pathToFileURL(process.cwd() + '/x.js'));

function dump(library, truth) {
  writeFileSync(process.env.DUMP, JSON.stringify({ library, ...truth }));
  process.exit(0);
}
globalThis.__dump = dump;
globalThis.Bun ??= { argv: process.argv };
globalThis.__definitions = definitions;

// Modules that are not installed are objects that have every property and can be called.
globalThis.__anything = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : globalThis.__anything),
  apply: () => globalThis.__anything,
  construct: () => globalThis.__anything,
});

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier.replace(/^npm:([^@/]+|@[^/]+\/[^@/]+)@.*$/, '$1').replace(/^npm:/, ''), context);
    } catch (error) {
      if (!context.parentURL?.startsWith('file:')) throw error;
      const source = readFileSync(fileURLToPath(context.parentURL), 'utf8');
      const names = new Set();
      for (const m of source.matchAll(/(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?\{([^}]*)\}\s*from\s*['"]([^'"]+)['"]/g)) {
        if (m[2] !== specifier) continue;
        for (const name of m[1].split(',')) names.add(name.trim().replace(/^type\s+/, '').split(/\s+as\s+/)[0]);
      }
      names.delete('');
      names.delete('default');
      const text = 'export default globalThis.__anything;' + [...names].map((n) => `export const ${n} = globalThis.__anything;`).join('');
      return context.conditions.includes('require')
        ? { url: 'data:text/javascript,' + encodeURIComponent('module.exports = globalThis.__anything') + '#cjs', format: 'commonjs', shortCircuit: true }
        : { url: 'data:text/javascript,' + encodeURIComponent(text), format: 'module', shortCircuit: true };
    }
  },
  load(url, context, next) {
    if (url.endsWith('#cjs')) return { format: 'commonjs', source: 'module.exports = globalThis.__anything', shortCircuit: true };
    return next(url, context);
  },
});

util.parseArgs = (config = {}) => {
  const parameters = Object.entries(config.options ?? {}).map(([name, o]) => ({
    name, flag: '--' + name, type: o.type,
    ...(o.multiple ? { array: true } : {}),
    ...(o.default !== undefined ? { default: o.default } : {}),
    ...(['help', 'version'].includes(name) ? { help: true } : {}),
  }));
  dump('parseargs', { parameters });
};
syncBuiltinESMExports();
