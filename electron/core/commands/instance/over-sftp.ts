import { BerthError } from '#contract/problem.ts'
import type { InstanceTarget } from '#core/access/enter.ts'
import { isConnectionFull } from '#ssh/connection/ssh-problems.ts'
import { SftpLost } from '#ssh/files/file-problems.ts'
import type { Sftp } from '#ssh/files/sftp.ts'
import { type OnInstance, type Parts, targetOf } from '../parts.ts'

/**
 * Runs work over SFTP, and repeats it once where the connection turns out to be lost, or to take no further session: the
 * work must then find done what it had asked for.
 */
export type OverSftp = <Got>(args: OnInstance, work: (sftp: Sftp) => Promise<Got>) => Promise<Got>

/** Milliseconds to keep an unused connection open. */
const keepOpen = 30_000

export function createOverSftp(parts: Parts): OverSftp {
  const { access, machine } = parts

  async function once<Got>(target: InstanceTarget, work: (sftp: Sftp) => Promise<Got>): Promise<Got> {
    const { openSftp } = await import('#ssh/files/sftp.ts')
    const lease = await access.connect(target)
    let sftp: Sftp | undefined
    try {
      sftp = await openSftp(lease.connection, machine.clock)
      return await work(sftp)
    } finally {
      sftp?.end()
      // The next command then finds it open.
      machine.clock.after(keepOpen, lease.release)
    }
  }

  return async (args, work) => {
    const target = targetOf(parts, args)
    try {
      return await once(target, work)
    } catch (error) {
      if (!(error instanceof SftpLost) && !isConnectionFull(error)) throw error
    }
    return once(target, work).catch(error => {
      throw error instanceof SftpLost ? connectionGone() : error
    })
  }
}

function connectionGone(): BerthError {
  return new BerthError({
    code: 'ssh_closed',
    message: 'The connection to the instance was lost.',
    advice: 'Try again.',
  })
}
