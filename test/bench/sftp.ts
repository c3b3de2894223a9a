import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chosenFolder } from '../../electron/local/chosen/chosen-folder.ts'
import { chosenItem } from '../../electron/local/chosen/chosen-items.ts'
import { createSsh } from '../../electron/ssh/connection/connections.ts'
import { downloadJob } from '../../electron/ssh/files/download.ts'
import type { Job } from '../../electron/ssh/files/job.ts'
import { openSftp, type Sftp } from '../../electron/ssh/files/sftp.ts'
import { uploadJob } from '../../electron/ssh/files/upload.ts'
import { scratchMachine } from '../integration/ssh/machine.ts'
import { hasSshd, startSshd } from '../integration/ssh/sshd.ts'
import { target } from '../integration/ssh/steps.ts'
import { inTurn, type Row } from './row.ts'

const run = promisify(execFile)
const megabytes = 256
const never = new AbortController().signal
const quiet = () => undefined

/** A large file up and down, by Berth and by OpenSSH's own `sftp`, over the same sshd. */
export async function sftpRows(): Promise<Row[]> {
  if (!hasSshd) return []
  const sshd = await startSshd()
  const machine = scratchMachine()
  const here = mkdtempSync(join(tmpdir(), 'berth-bench-sftp-'))
  const there = join(sshd.folder, 'there')
  mkdirSync(there)
  const ssh = createSsh(machine)
  try {
    const key = await ssh.keys.load('berth')
    sshd.authorize(key.publicKey)
    chmodSync(key.path, 0o600)
    const big = join(here, 'big')
    writeFileSync(big, Buffer.alloc(megabytes * 1024 * 1024, 'Berth'))
    writeFileSync(join(there, 'down'), Buffer.alloc(megabytes * 1024 * 1024, 'Berth'))
    const lease = await ssh.connect(target({ direct: sshd }))
    const sftp = await openSftp(lease.connection)

    const stock = (batch: string) => {
      writeFileSync(join(here, 'batch'), `${batch}\n`)
      const options = [
        '-oStrictHostKeyChecking=no',
        '-oUserKnownHostsFile=/dev/null',
        '-oLogLevel=ERROR',
        '-oIdentitiesOnly=yes',
      ]
      return run('sftp', [
        '-q',
        '-b',
        join(here, 'batch'),
        '-i',
        key.path,
        '-P',
        String(sshd.port),
        ...options,
        'root@127.0.0.1',
      ])
    }
    const up = await inTurn(
      5,
      () =>
        move(sftp, uploadJob({ folder: there, list: chosenItem(big).list, replace: true, changed: quiet })),
      () => stock(`put ${big} ${there}/stock`),
    )
    const down = await inTurn(
      5,
      async () => {
        rmSync(join(here, 'down'), { force: true })
        await move(
          sftp,
          downloadJob({
            paths: [join(there, 'down')],
            into: chosenFolder(here),
            system: 'linux',
            changed: quiet,
          }),
        )
      },
      () => stock(`get ${there}/down ${here}/stock`),
    )
    // Berth is connected already, as it is when files are looked at: what only `sftp` did is not counted.
    const { first: connecting } = await inTurn(
      5,
      () => stock('pwd'),
      () => undefined,
    )
    lease.release()
    return [row('up', up, connecting), row('down', down, connecting)]
  } finally {
    await ssh.close()
    await sshd.close()
    machine.remove()
    rmSync(here, { recursive: true, force: true })
  }
}

async function move(sftp: Sftp, job: Job): Promise<void> {
  await job.prepare(sftp, never)
  await job.run(sftp, never)
}

/** Milliseconds by Berth, by `sftp`, and by `sftp` for connecting alone. */
function row(
  way: 'up' | 'down',
  { first, second }: { first: number; second: number },
  connecting: number,
): Row {
  const ratio = (second - connecting) / first
  return {
    what: `SFTP ${way}`,
    compared: `OpenSSH’s sftp over the same sshd, ${megabytes} MB, its connecting aside; Berth ${Math.round((megabytes / first) * 1000)} MB/s`,
    measured: `${ratio.toFixed(2)} × its throughput`,
    budget: 'at least 0.9 ×',
    kept: ratio >= 0.9,
  }
}
