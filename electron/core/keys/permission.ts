import { BerthError } from '../../contract/problem.ts'
import { ServiceError } from '../../service/service-error.ts'
import { problemOf } from '../problems.ts'

/** A permission category (FIELDS has which call is in which), and what it is for in words. */
const may = {
  user_read: 'read the account',
  user_write: 'change the account',
  instance_write: 'change instances',
  machine_read: 'read machines',
  machine_write: 'change machines',
  misc: 'use workergroups',
} as const

/**
 * Waits for a call that needs a permission. A bare 401 or 403 is told as what it most likely is, on an account whose
 * key is otherwise good: a scoped key that lacks it, or one that needs a login with two factors first.
 */
export async function needing<Answer>(permission: keyof typeof may, call: Promise<Answer>): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.code !== 'unauthorized' && error.code !== 'forbidden'))
      throw error
    const { facts } = problemOf(error)
    throw new BerthError({
      code: error.code,
      message: `Berth’s key for this account may not ${may[permission]}: it lacks the permission ${permission}.`,
      advice: 'Use a key that has it. Where the key needs two-factor authentication, log in first.',
      ...(facts ? { facts } : {}),
    })
  }
}
