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

// yargs
function yargsTruth(instance, positionals, fresh) {
  const inner = instance.getInternalMethods();
  const options = instance.getOptions();
  const descriptions = inner.getUsageInstance().getDescriptions();
  const demanded = instance.getDemandedOptions();
  const groups = [];
  const seen = new Set(['help', 'version']);
  for (const p of positionals) seen.delete(p.name);
  for (const key of Object.keys(options.key)) {
    if (seen.has(key)) continue;
    const names = [key, ...(options.alias[key] ?? [])];
    if (Object.entries(options.alias).some(([k, v]) => v.includes(key) && k !== key && options.key[k] !== undefined && !seen.has(k) && Object.keys(options.key).indexOf(k) < Object.keys(options.key).indexOf(key))) continue;
    names.forEach((n) => seen.add(n));
    groups.push(names);
  }
  const parameters = groups.map((names) => {
    const of = (map) => names.map((n) => map[n]).find((v) => v !== undefined);
    const has = (list) => names.some((n) => list.includes(n));
    const positional = positionals.find((p) => names.includes(p.name));
    const p = { name: names[0], names: names.slice(1) };
    if (positional) Object.assign(p, { positional: true, required: positional.required });
    else p.flag = (names[0].length > 1 ? '--' : '-') + names[0];
    p.type = has(options.boolean) ? 'boolean' : has(options.number) ? 'number' : has(options.count) ? 'integer' : has(options.string) || of(options.choices) ? 'string' : 'any';
    if (has(options.count)) p.accept = ['boolean'];
    if (has(options.array) || positional?.variadic) p.array = true;
    if (of(options.narg) > 1) p.array = true;
    if (of(options.choices)) p.enum = of(options.choices);
    if (of(options.default) !== undefined) p.default = of(options.default);
    if (!positional && names.some((n) => n in demanded)) p.required = true;
    const text = of(descriptions);
    if (text) p.description = text.replace(/^__yargsString__:/, '');
    return p;
  });
  for (const positional of positionals) {
    if (!parameters.some((p) => p.name === positional.name)) parameters.push({ name: positional.name, positional: true, required: positional.required, type: 'any', ...(positional.variadic ? { array: true } : {}) });
  }
  const instanceOf = inner.getCommandInstance();
  const read = (handler) => {
    const own = fresh();
    if (typeof handler.builder === 'function') handler.builder(own);
    else if (handler.builder) own.options(handler.builder);
    const list = [...handler.demanded.map((d) => ({ name: d.cmd[0], required: true, variadic: d.variadic })), ...handler.optional.map((d) => ({ name: d.cmd[0], required: false, variadic: d.variadic }))];
    return yargsTruth(own, list, fresh);
  };
  const commands = [];
  let all = parameters;
  const root = instanceOf.defaultCommand;
  if (root) {
    const more = read(root).parameters;
    all = [...parameters.filter((p) => !more.some((m) => m.name === p.name)), ...more];
  }
  for (const [name, handler] of Object.entries(instanceOf.handlers)) {
    if (handler === root || name === '$0' || name === 'completion') continue;
    const aliases = Object.entries(instanceOf.aliasMap).filter(([, to]) => to === name).map(([from]) => from);
    commands.push({ name, aliases, description: handler.description || '', ...read(handler) });
  }
  return { parameters: all, ...(commands.length ? { commands } : {}) };
}

function patchYargs(factory, fresh) {
  const prototype = Object.getPrototypeOf(factory());
  for (const name of ['parse', 'parseSync', 'parseAsync']) {
    const original = prototype[name];
    let busy = false;
    prototype[name] = function () {
      if (busy || !original) return original?.apply(this, arguments);
      dump('yargs', yargsTruth(this, [], fresh));
    };
  }
}
try {
  const yargs = require('yargs');
  patchYargs(() => yargs([]), () => yargs([]));
} catch {}
try {
  const { default: yargs } = await import(pathToFileURL(process.cwd() + '/node_modules/yargs/index.mjs').href);
  patchYargs(() => yargs([]), () => yargs([]));
} catch {}

// definitions returns the truth of the options of minimist, mri and getopts.
function definitions(options = {}) {
  const list = (v) => (v === undefined || v === true || v === false ? [] : [].concat(v));
  const alias = {};
  for (const [key, to] of Object.entries(options.alias ?? {})) alias[key] = list(to);
  const keys = [...list(options.string), ...list(options.boolean), ...Object.keys(options.default ?? {}), ...Object.keys(alias)];
  const groups = [];
  for (const key of keys) {
    const more = [key, ...(alias[key] ?? []), ...Object.keys(alias).filter((k) => alias[k].includes(key))];
    const old = groups.find((g) => more.some((n) => g.has(n)));
    if (old) more.forEach((n) => old.add(n));
    else groups.push(new Set(more));
  }
  return groups.map((group) => {
    const names = [...group].sort((a, b) => b.length - a.length);
    const fallback = names.map((n) => options.default?.[n]).find((v) => v !== undefined);
    const has = (l) => names.some((n) => list(l).includes(n));
    const p = { name: names[0], names: names.slice(1), flag: (names[0].length > 1 ? '--' : '-') + names[0] };
    p.type = has(options.boolean) || typeof fallback === 'boolean' ? 'boolean' : has(options.string) ? 'string' : typeof fallback === 'number' ? 'number' : 'any';
    if (fallback !== undefined) p.default = fallback;
    if (p.type === 'any') p.accept = ['string', 'number', 'boolean', 'integer'];
    if (names.includes('help') || names.includes('version')) p.help = true;
    return p;
  });
}

// cac and sade
function patchCac(CAC) {
  const params = (command) => [
    ...command.options.map((o) => ({
      name: o.name, names: o.names, flag: '--' + o.name,
      type: o.isBoolean || o.negated ? 'boolean' : 'any',
      ...(o.negated ? { default: true } : o.config.default !== undefined ? { default: o.config.default } : {}),
      ...(Array.isArray(o.config.type) ? { array: true } : {}),
      ...(o.required === false ? { accept: ['string', 'boolean', 'any', 'number'] } : {}),
      description: o.description, ...(['help', 'version'].includes(o.name) ? { help: true } : {}),
    })),
    ...(command.args ?? []).map((a) => ({ name: a.value, positional: true, required: a.required, type: 'string', ...(a.variadic ? { array: true } : {}) })),
  ];
  CAC.prototype.parse = function () {
    const root = this.commands.find((c) => c.name === '' || c.isDefaultCommand);
    const commands = this.commands.filter((c) => c !== root).map((c) => ({ name: c.name, aliases: c.aliasNames, description: c.description, parameters: params(c) }));
    dump('cac', { parameters: [...params(this.globalCommand), ...(root ? params(root) : [])], ...(commands.length ? { commands } : {}) });
  };
}
try {
  patchCac(require('cac').CAC);
} catch {}
try {
  patchCac((await import(pathToFileURL(process.cwd() + '/node_modules/cac/dist/index.mjs').href)).CAC);
} catch {}

function sadeTruth(program) {
  const params = (node, usage) => [
    ...(node?.options ?? []).map(([flags, description, fallback]) => {
      const name = flags.split(/,\s*/).map((f) => f.replace(/^-+/, '')).sort((a, b) => b.length - a.length);
      return { name: name[0], names: name.slice(1), flag: '--' + name[0], type: typeof fallback === 'boolean' ? 'boolean' : 'any', accept: ['string', 'boolean', 'number', 'integer'], ...(fallback !== undefined ? { default: fallback } : {}), description, ...(['help', 'version'].includes(name[0]) ? { help: true } : {}) };
    }),
    ...[...(usage ?? '').matchAll(/<([^>]+)>|\[([^\]]+)\]/g)].map((m) => {
      const name = m[1] ?? m[2];
      return { name: name.replace(/^\.\.\./, ''), positional: true, required: !!m[1], type: 'string', ...(name.startsWith('...') ? { array: true } : {}) };
    }),
  ];
  const tree = program.tree;
  const names = Object.keys(tree).filter((n) => !n.startsWith('__'));
  if (program.single) return { parameters: [...params(tree.__all__), ...params(tree.__default__, tree.__default__?.usage)] };
  const usageOf = (n) => tree[n].usage.slice(n.length);
  return { parameters: params(tree.__all__), commands: names.map((n) => ({ name: n, aliases: tree[n].alibi ?? [], description: [].concat(tree[n].describe ?? '').join(' '), parameters: params(tree[n], usageOf(n)) })) };
}
try {
  const sade = require('sade');
  const prototype = Object.getPrototypeOf(sade('x'));
  prototype.parse = function () {
    dump('sade', sadeTruth(this));
  };
} catch {}
