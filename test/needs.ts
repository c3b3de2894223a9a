import { isInstalled, mustHaveAll } from '../build/system-parts.ts'

/** A requirement of tests on this machine: a program, or anything with a flag. */
export type Need = string | { what: string; there: boolean }

/** File modes as permissions, which Windows lacks. */
export const fileModes: Need = { what: 'file modes', there: process.platform !== 'win32' }

/**
 * The missing needs as a suffix for the name of a skipped suite, such as ` (skipped: no dunst)`, or ''. Throws with
 * CI=true on Linux if anything is missing.
 */
export function lacks(...needs: readonly Need[]): string {
  const missing = needs.flatMap(need => {
    if (typeof need !== 'string') return need.there ? [] : [need.what]
    return isInstalled(need) ? [] : [need]
  })
  if (missing.length === 0) return ''
  const said = `no ${missing.join(', no ')}`
  if (mustHaveAll()) throw new Error(`With CI=true nothing may be missing: ${said}`)
  return ` (skipped: ${said})`
}
