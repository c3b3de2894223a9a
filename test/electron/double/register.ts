import { register } from 'node:module'

/** Loaded before the built main process: what it imports from `electron` is then the double. */
const double = new URL('./electron.ts', import.meta.url).href
const hook = `export const resolve = (specifier, context, next) =>
  next(specifier === 'electron' ? ${JSON.stringify(double)} : specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
