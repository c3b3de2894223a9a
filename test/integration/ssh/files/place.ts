import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { openSftp, type Sftp } from '#ssh/files/sftp.ts'
import { openScratch } from '../machine.ts'
import { type Sshd, startSshd } from '../sshd.ts'
import { account, target } from '../steps.ts'

/** A real sshd that accepts Berth's key, with a folder for each side. */
export interface Place {
  sshd: Sshd
  /** The folder on the instance's side. */
  there: string
  here: string
  /** Another address gives another connection. */
  connect(at?: SshAddress): Promise<SharedConnection>
  sftp(): Promise<Sftp>
}

/** `config`: lines of sshd_config that override the defaults. */
export async function openPlace(config: readonly string[] = []): Promise<Place> {
  const sshd = await startSshd(config)
  onTestFinished(() => sshd.close())
  const { ssh } = openScratch()
  sshd.authorize((await ssh.keysOf(account).load('berth')).publicKey)
  const there = join(sshd.folder, 'there')
  mkdirSync(there)
  const here = mkdtempSync(join(tmpdir(), 'berth-here-'))
  onTestFinished(() => rmSync(here, { recursive: true, force: true, maxRetries: 20 }))
  const connect = (at: SshAddress = sshd) => ssh.connect(target({ direct: at }))
  return {
    sshd,
    there,
    here,
    connect,
    sftp: async () => openSftp((await connect()).connection, systemClock),
  }
}

export function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** The hash of every file below a folder, by path. */
export function tree(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => statSync(join(folder, name)).isFile())
      .sort()
      .map(name => [name, hashOf(join(folder, name))]),
  )
}
