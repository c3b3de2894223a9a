import type { Problem } from '../../../contract/problem.ts'
import { micros } from '../../../contract/spending/money.ts'
import type { User } from '../../../service/account.ts'
import type { ServiceClient } from '../../../service/client.ts'
import type { Instance } from '../../../service/instances.ts'
import { ServiceError } from '../../../service/service-error.ts'
import { problemOf } from '../../problems.ts'

/** What one look at an account came to. */
export type Look =
  | { outcome: 'seen'; user?: User; instances?: readonly Instance[]; limitation?: string }
  /** `status`: of the HTTP answer, where one came. */
  | { outcome: 'failed'; problem: Problem; status?: number }
  | { outcome: 'refused'; problem: Problem }

/**
 * Asks for the user and the instances, both at once. A key that may read only one of them is a limited key; one that
 * may read neither is refused.
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
    return { outcome: 'failed', problem: problemOf(passing), ...(status > 0 && { status }) }
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

/** Whether the service refused the key, or what it may do. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 401 || error.status === 403)
}

/** What the user object says, as State has it. */
export function userFields({ id, email, credit, tfa_status }: User) {
  return { userId: id, email, credit: micros(credit), tfaStatus: tfa_status }
}
