import type { Problem } from '../../../contract/problem.ts'
import { micros } from '../../../contract/spending/money.ts'
import type { User } from '../../../service/account.ts'
import type { ServiceClient } from '../../../service/client.ts'
import type { Instance } from '../../../service/instances.ts'
import { ServiceError } from '../../../service/service-error.ts'
import { problemOf } from '../../problems.ts'

/** What one look at an account came to. */
export type Look =
  /** `failed`: why the user was not told, where that may pass. */
  | {
      outcome: 'seen'
      user?: User
      instances?: readonly Instance[]
      limitation?: string
      failed?: FailedLook
    }
  | ({ outcome: 'failed' } & FailedLook)
  | { outcome: 'refused'; problem: Problem }

/** `status`: of the HTTP answer, where one came. */
export interface FailedLook {
  problem: Problem
  status?: number
}

/**
 * Asks for the user and the instances, both at once. A key that may read only one of them is a limited key; one that
 * may read neither is refused. Where only the user failed, the instances were seen all the same.
 */
export async function lookAt(client: ServiceClient, signal: AbortSignal): Promise<Look> {
  const options = { retries: 1, signal }
  const [user, instances] = await Promise.allSettled([
    client.account.currentUser(options),
    client.instances.list(options),
  ])
  if (user.status === 'fulfilled' && instances.status === 'fulfilled')
    return { outcome: 'seen', user: user.value, instances: instances.value }

  const reasons = [user, instances].flatMap(result =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  const passing = reasons.find(reason => !isRefusal(reason))
  if (passing !== undefined) {
    const status = passing instanceof ServiceError ? passing.status : 0
    const failed = { problem: problemOf(passing), ...(status > 0 && { status }) }
    if (instances.status === 'rejected') return { outcome: 'failed', ...failed }
    return { outcome: 'seen', instances: instances.value, limitation: userUntold, failed }
  }
  if (user.status === 'fulfilled')
    return {
      outcome: 'seen',
      user: user.value,
      limitation: 'This key may not read instances: make one with instance_read.',
    }
  if (instances.status === 'fulfilled')
    return {
      outcome: 'seen',
      instances: instances.value,
      limitation: 'This key may not read the account, so its credit is not known: make one with user_read.',
    }
  return { outcome: 'refused', problem: problemOf(reasons[0]) }
}

const userUntold =
  'The service tells the instances, but not the account at the moment: its credit is as it was told last.'

/** Whether the service refused the key, or what it may do. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 401 || error.status === 403)
}

/** What the user object says, as State has it. */
export function userFields({ id, email, credit, tfa_status }: User) {
  return { userId: id, email, credit: micros(credit), tfaStatus: tfa_status }
}
