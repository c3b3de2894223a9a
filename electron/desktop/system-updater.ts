import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { app } from 'electron'
import type { Log, Updater } from '#platform/platform.ts'

/**
 * The updater of a package with a publish address, which electron-builder stores beside it. Undefined for all others,
 * which do not even load the updater's code. Updates come over https only, or from loopback; each is checked against
 * the digest in its version's metadata, and against its signature where the system has one.
 */
export async function systemUpdater(log: Pick<Log, 'line'>): Promise<Updater | undefined> {
  if (!app.isPackaged) return undefined
  const address = join(process.resourcesPath, 'app-update.yml')
  const config = await readFile(address, 'utf8').catch(() => undefined)
  if (config === undefined) return undefined
  if (!isSafe(config)) {
    log.line('update: the address is neither https nor loopback, and is not used')
    return undefined
  }
  const { adaptUpdater } = await import('./electron-updater.ts')
  return adaptUpdater(log)
}

/** Whether all addresses in the configuration are https or loopback. Services it names are used over https. */
export function isSafe(config: string): boolean {
  return [...config.matchAll(/^[ \t]*(?:url|host)\s*:\s*["']?([^\s"']+)/gm)].every(([, address = '']) => {
    if (!address.includes('://')) return true
    if (!URL.canParse(address)) return false
    const { protocol, hostname } = new URL(address)
    return (
      protocol === 'https:' ||
      (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
    )
  })
}
