import { BerthError, type Problem } from '../../contract/problem.ts'
import { ServiceError } from '../../service/service-error.ts'
import { problemOf } from './problems.ts'

/** A permission category (FIELDS has which call is in which), and what it is for in words. */
const may = {
  user_read: 'read the account',
  user_write: 'change the account',
  instance_read: 'see instances',
  instance_write: 'change instances',
  machine_read: 'read machines',
  machine_write: 'change machines',
  misc: 'use workergroups',
} as const
type Permission = keyof typeof may

/**
 * Waits for a call that needs a permission. A bare 401 or 403 is told as what it most likely is, on an account whose
 * key is otherwise good: a scoped key that lacks it, or one that needs a login with two factors first.
 */
export async function needingPermission<Answer>(
  permission: Permission,
  call: Promise<Answer>,
): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    const lacking = lackedBy(error, permission)
    throw lacking ? new BerthError(lacking) : error
  }
}

/** The same for a call that has failed; undefined where it failed otherwise. */
export function lackedBy(error: unknown, permission: Permission): Problem | undefined {
  if (!(error instanceof ServiceError) || (error.code !== 'unauthorized' && error.code !== 'forbidden'))
    return undefined
  const { facts } = problemOf(error)
  return {
    code: error.code,
    message: `Berth’s key for this account may not ${may[permission]}: it lacks the permission ${permission}.`,
    advice: 'Use a key that has it. Where the key needs two-factor authentication, log in first.',
    facts,
  }
}
