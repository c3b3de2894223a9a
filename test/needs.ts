import { isInstalled, mustHaveAll } from '../build/system-parts.ts'

/** Something that tests need of this machine: a program, or whatever else is told whether it is there. */
export type Need = string | { what: string; there: boolean }

/** Files whose permissions say who may read them: Windows has other ways. */
export const fileModes: Need = { what: 'file modes', there: process.platform !== 'win32' }

/**
 * What a suite lacks here, as it stands in the name of a suite that is left out: ` (skipped: no dunst)`. Empty when
 * all is there. With CI=true nothing may be missing on Linux: then it throws.
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
