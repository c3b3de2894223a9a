import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chosenFolder, chosenItem } from '#platform/chosen-files.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { createSsh } from '#ssh/connection/connections.ts'
import { openSftp, type Sftp } from '#ssh/files/sftp.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import type { TransferJob } from '#ssh/files/transfer/job.ts'
import { uploadJob } from '#ssh/files/transfer/upload.ts'
import { randomFile, streamedHash } from '../integration/ssh/files/random-file.ts'
import { scratchMachine } from '../integration/ssh/machine.ts'
import { startSshd } from '../integration/ssh/sshd.ts'
import { account, target } from '../integration/ssh/steps.ts'

const gigabyte = 1024 ** 3
/** The most megabytes that memory may grow during a transfer. */
const mostGrowth = 96
const never = new AbortController().signal

/** Transfers a gigabyte in both directions over Debian's sshd. Throws if a hash is wrong or memory grows. */
export async function soakFiles(): Promise<string> {
  const sshd = await startSshd()
  const machine = scratchMachine()
  const here = mkdtempSync(join(tmpdir(), 'berth-soak-'))
  const there = join(sshd.folder, 'there')
  const back = join(here, 'back')
  mkdirSync(there)
  mkdirSync(back)
  const ssh = createSsh(machine)
  try {
    sshd.authorize((await ssh.keysOf(account).load('berth')).publicKey)
    const sftp = await openSftp((await ssh.connect(target({ direct: sshd }))).connection, systemClock)
    const hash = await randomFile(join(here, 'big'), gigabyte)
    let least = Number.POSITIVE_INFINITY
    let most = 0
    const changed = () => {
      const { rss } = process.memoryUsage()
      least = Math.min(least, rss)
      most = Math.max(most, rss)
    }
    await move(
      sftp,
      uploadJob({ folder: there, list: chosenItem(join(here, 'big')).list, replace: false, changed }),
    )
    if ((await streamedHash(join(there, 'big'))) !== hash) throw new Error('the uploaded gigabyte differs')
    rmSync(join(here, 'big'))
    await move(
      sftp,
      downloadJob({ paths: [join(there, 'big')], into: chosenFolder(back), system: 'linux', changed }),
    )
    if ((await streamedHash(join(back, 'big'))) !== hash) throw new Error('the downloaded gigabyte differs')
    const growth = Math.round((most - least) / 1024 / 1024)
    if (growth > mostGrowth) throw new Error(`memory grew by ${growth} MB`)
    return `1 GB up and down over SFTP: hashes right, memory within ${growth} MB`
  } finally {
    await ssh.close()
    await sshd.close()
    machine.remove()
    rmSync(here, { recursive: true, force: true })
  }
}

async function move(sftp: Sftp, job: TransferJob): Promise<void> {
  await job.prepare(sftp, never)
  await job.run(sftp, never)
}
