import { problemOf } from '#core/bridge/problems.ts'
import type { User } from '#service/account.ts'
import type { ServiceClient } from '#service/client.ts'
import type { Instance, InstanceList, ListOptions } from '#service/instances.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Problem } from '#shared/problem.ts'
import { micros } from '#shared/spending/money.ts'

/** The result of one poll of an account. */
export type Poll =
  /** `failed`: why the user's data is missing, if that is temporary. */
  | {
      outcome: 'seen'
      user?: User
      list?: InstanceList
      limitation?: string
      failed?: FailedPoll
    }
  | ({ outcome: 'failed' } & FailedPoll)
  | { outcome: 'refused'; problem: Problem }

/** `status`: of the HTTP answer, where one came. */
export interface FailedPoll {
  problem: Problem
  status?: number
}

/**
 * Fetches the user and the instances at the same time. A key that may read only one of the two is limited; one that may
 * read neither is refused. Instances count even where the user failed; nothing counts in answers for another user than
 * `userId`, where that is known.
 */
export async function pollAccount(
  client: ServiceClient,
  signal: AbortSignal,
  { anew, onPart }: Pick<ListOptions, 'anew' | 'onPart'> = {},
  userId?: number,
): Promise<Poll> {
  const options = { retries: 1, signal }
  const asked = client.account.currentUser(options)
  const isOthers = asked.then(
    ({ id }) => userId !== undefined && id !== userId,
    () => false,
  )
  const showPart: ListOptions['onPart'] =
    onPart && (part => void isOthers.then(isOther => (isOther ? undefined : onPart(part))))
  const [user, instances] = await Promise.allSettled([
    asked,
    client.instances.list({ ...options, anew, onPart: showPart }),
  ])
  if (user.status === 'fulfilled' && userId !== undefined && user.value.id !== userId)
    return { outcome: 'failed', problem: otherAccount(userId, user.value.id), status: 200 }
  if (user.status === 'fulfilled' && instances.status === 'fulfilled')
    return { outcome: 'seen', user: user.value, list: instances.value }

  const reasons = [user, instances].flatMap(result =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  const passing = reasons.find(reason => !isRefusal(reason))
  if (passing !== undefined) {
    const status = passing instanceof ServiceError ? passing.status : 0
    const failed = { problem: problemOf(passing), status: status > 0 ? status : undefined }
    if (instances.status === 'rejected') return { outcome: 'failed', ...failed }
    return { outcome: 'seen', list: instances.value, limitation: accountUnread, failed }
  }
  if (user.status === 'fulfilled')
    return {
      outcome: 'seen',
      user: user.value,
      limitation: 'This key can’t read instances. Create one with instance_read.',
    }
  if (instances.status === 'fulfilled')
    return {
      outcome: 'seen',
      list: instances.value,
      limitation: 'This key can’t read the account, so its credit is unknown. Create one with user_read.',
    }
  return { outcome: 'refused', problem: problemOf(reasons[0]) }
}

function otherAccount(own: number, other: number): Problem {
  return {
    code: 'other_user',
    message: `The service answered for another account: for user ${other} instead of ${own}.`,
    advice:
      'What this computer shows is from before. Look for a proxy between this computer and the service; Berth keeps asking.',
  }
}

const accountUnread =
  'The service reports instances but not the account, so the credit shown is the last known.'

/** Whether the service refused the key or its scopes. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.keyRefused
}

/** The user object's fields as in State. Missing fields keep their last value. */
export function accountFields({ id, email, credit, tfa_status }: User) {
  return {
    userId: id,
    email,
    credit: credit === undefined ? undefined : micros(credit),
    tfaStatus: tfa_status,
  }
}

/** Fetches one instance. It is gone only where the service's own answer says so: any server in its place sends a 404. */
export async function askForOne(
  client: ServiceClient,
  instance: number,
  signal: AbortSignal,
): Promise<Instance | 'gone' | 'unknown'> {
  try {
    return await client.instances.one(instance, { retries: 1, signal })
  } catch (error) {
    const isGone =
      error instanceof ServiceError && error.status === 404 && error.isServices && !error.keyRefused
    return isGone ? 'gone' : 'unknown'
  }
}
