import parser from '@typescript-eslint/parser'
import regexp from 'eslint-plugin-regexp'
import * as svelteParser from 'svelte-eslint-parser'

// Only what Biome has no rule for: hosts, services and authors of templates choose the texts that expressions read.
const plugins = { regexp }
const rules = {
  'regexp/no-super-linear-backtracking': 'error',
  'regexp/no-super-linear-move': ['error', { report: 'potential' }],
  'no-restricted-syntax': [
    'error',
    {
      selector:
        ":matches(NewExpression, CallExpression)[callee.name='RegExp']:not([arguments.0.type='Literal'], [arguments.0.tag.object.name='String'])",
      message: 'An expression that is put together at run time cannot be checked.',
    },
  ],
}

export default [
  { files: ['**/*.ts'], languageOptions: { parser }, plugins, rules },
  {
    files: ['**/*.svelte'],
    languageOptions: { parser: svelteParser, parserOptions: { parser } },
    plugins,
    rules,
  },
  // Its expressions come from tests.
  { files: ['simulator/**'], rules: { 'no-restricted-syntax': 'off' } },
]
