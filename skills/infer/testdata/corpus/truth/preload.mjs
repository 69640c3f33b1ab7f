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

// typed returns the type of a value that a function parses.
function typed(parse, fallback) {
  const probe = (text) => {
    try {
      return parse(text, fallback);
    } catch {
      return undefined;
    }
  };
  const [seven, list] = [probe('7'), probe('a,b')];
  const numbers = ['7', '3.7', '0.7'].map(probe).filter((v) => typeof v === 'number' && !Number.isNaN(v));
  if (numbers.length > 0) return { type: numbers.every(Number.isInteger) ? 'integer' : 'number' };
  if (Array.isArray(seven)) {
    const before = Array.isArray(fallback) ? fallback.length : 0;
    if (Array.isArray(list) && list.length === before + 2 && seven.length === before + 1) return { type: 'string', accept: ['array'] };
    return { type: typeof seven.at(-1) === 'number' ? 'integer' : 'string', array: true };
  }
  return { type: 'string' };
}

function valued(parse, variadic, choices, fallback) {
  const truth = parse && !choices ? typed(parse, fallback) : { type: 'string' };
  if (variadic) truth.array = true;
  if (choices) truth.enum = choices;
  if (fallback !== undefined) truth.default = fallback;
  return truth;
}

function commanderTruth(command) {
  const parameters = [];
  const version = command._versionOptionName;
  for (const o of command.options) {
    const name = o.attributeName();
    const old = parameters.find((p) => p.name === name && p.flag);
    const p = old ?? { name, flag: o.long ?? o.short };
    if (!old) parameters.push(p);
    if (name === version || o.hidden) p.help = true;
    if (o.description && !p.description) p.description = o.description;
    if (o.mandatory) p.required = true;
    if (o.required || o.optional) {
      Object.assign(p, valued(o.parseArg, o.variadic, o.argChoices, o.defaultValue));
      if (o.optional) p.accept = ['string', 'boolean', 'any', 'array', p.type];
    } else if (!p.type) {
      p.type = 'boolean';
      if (o.parseArg) p.accept = ['integer'];
      const value = command.getOptionValue(name);
      if (value !== undefined) p.default = value;
    } else if (o.negate && p.type !== 'boolean') p.accept = [...(p.accept ?? []), 'string', 'boolean', 'any'];
  }
  for (const a of command.registeredArguments) {
    parameters.push({
      name: a.name(), positional: true, required: a.required,
      ...(a.description ? { description: a.description } : {}),
      ...valued(a.parseArg, a.variadic, a.argChoices, a.defaultValue),
    });
  }
  const commands = command.commands.map((c) => ({ name: c.name(), aliases: c.aliases(), description: c.description(), ...commanderTruth(c) }));
  return { parameters, ...(commands.length ? { commands } : {}) };
}

function patchCommander(commander) {
  for (const name of ['parse', 'parseAsync']) {
    commander.Command.prototype[name] = function () {
      dump('commander', commanderTruth(this));
    };
  }
}
for (const name of ['commander', '@commander-js/extra-typings']) {
  try {
    patchCommander(require(name));
  } catch {}
}

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
