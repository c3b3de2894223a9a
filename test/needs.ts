import { isInstalled, mustHaveAll } from '../build/system-parts.ts'

/** A requirement of tests on this machine: a program, or anything with a flag. */
export type Need = string | { what: string; there: boolean }

/** Rights that only root has. That they are missing is no fault of this machine. */
export const root: Need = { what: 'root, to be or to name another user', there: process.getuid?.() === 0 }

/** File modes as permissions, which Windows lacks. */
export const fileModes: Need = { what: 'file modes', there: process.platform !== 'win32' }

/**
 * The missing needs as a suffix for the name of a skipped suite, such as ` (skipped: no dunst)`, or ''. Throws with
 * CI=true on Linux if anything but root is missing.
 */
export function lacks(...needs: readonly Need[]): string {
  const missing = needs.filter(isMissing).map(need => (typeof need === 'string' ? need : need.what))
  if (missing.length === 0) return ''
  const said = `no ${missing.join(', no ')}`
  if (mustHaveAll() && needs.some(need => need !== root && isMissing(need)))
    throw new Error(`With CI=true nothing may be missing: ${said}`)
  return ` (skipped: ${said})`
}

function isMissing(need: Need): boolean {
  return typeof need === 'string' ? !isInstalled(need) : !need.there
}
