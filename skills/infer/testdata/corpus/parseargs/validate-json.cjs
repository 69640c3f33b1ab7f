const { parseArgs } = require('util');
const fs = require('fs');
const Ajv = require('ajv');

const options = {
  schema: { type: 'string', short: 's' },
  data: { type: 'string', short: 'd' },
  'all-errors': { type: 'boolean', short: 'a' },
  draft: { type: 'string', default: '2020-12' },
};
const { values } = parseArgs({ options });

const ajv = new Ajv({ allErrors: values['all-errors'] });
const validate = ajv.compile(JSON.parse(fs.readFileSync(values.schema, 'utf8')));
if (!validate(JSON.parse(fs.readFileSync(values.data, 'utf8')))) {
  console.error(validate.errors);
  process.exit(1);
}
