import { BerthError, type Problem } from '#contract/problem.ts'
import { ServiceError } from '#service/service-error.ts'
import { problemOf } from './problems.ts'

/** A permission category (FIELDS lists the calls of each) and its purpose in words. */
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
 * Awaits a call that needs a permission. On an account whose key is otherwise valid, a bare 401 or 403 most likely
 * means that a scoped key lacks it, or that the key needs a login with two factors, so the error says that.
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

/** The problem of a failed call that lacked the permission, or a login; undefined for other errors. */
export function lackedBy(error: unknown, permission: Permission): Problem | undefined {
  if (error instanceof ServiceError && error.code === 'tfa_needed') return problemOf(error)
  if (!(error instanceof ServiceError) || (error.code !== 'unauthorized' && error.code !== 'forbidden'))
    return undefined
  const { facts } = problemOf(error)
  return {
    code: error.code,
    message: `Berth’s key for this account may not ${may[permission]}: it lacks the permission ${permission}.`,
    advice: 'Use a key that has it. If the key needs two-factor authentication, log in first.',
    facts,
  }
}
