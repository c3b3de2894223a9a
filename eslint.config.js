import parser from '@typescript-eslint/parser'
import regexp from 'eslint-plugin-regexp'
import * as svelteParser from 'svelte-eslint-parser'

/**
 * A local value is used only below the line that makes it, also in functions that are called later: what needs another part
 * gets it when it's made. Types, functions and whole modules may be read from the top down.
 */
const noForwardReference = {
  create(context) {
    function check({ type, variables, childScopes }) {
      const isLocal = type !== 'module' && type !== 'global'
      for (const { defs, name, references } of isLocal ? variables : [])
        for (const { identifier } of defs[0]?.type === 'Variable' ? references : [])
          if (identifier.range[0] < defs[0].name.range[0])
            context.report({ node: identifier, message: `${name} is made further down.` })
      for (const child of childScopes) check(child)
    }
    return { 'Program:exit': () => check(context.sourceCode.scopeManager.globalScope) }
  },
}

// Only what Biome has no rule for: hosts, services and authors of templates choose the texts that expressions read.
const plugins = { regexp, berth: { rules: { 'no-forward-reference': noForwardReference } } }
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
  {
    files: ['electron/core/**'],
    // Each ties parts together that need each other, whatever comes first: limits let runs save before they act, which rent
    // what those limit; all parts ask for polls, which are given to all of them, and the client asks what may cost more;
    // a run is read with what its sweep agreed, and a sweep shows its runs.
    ignores: ['electron/core/accounts/{automations,session}.ts', 'electron/core/sweeps/perform.ts'],
    rules: { 'berth/no-forward-reference': 'error' },
  },
  // Its expressions come from tests.
  { files: ['simulator/**'], rules: { 'no-restricted-syntax': 'off' } },
]
