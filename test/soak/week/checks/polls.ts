import type { LoggedRequest } from '../../../../simulator/http/request-log.ts'
import type { Poll } from '../timeline.ts'

/** Whether a path is the list of instances, in either version. */
export function isList(path: string): boolean {
  return /^\/api\/v[01]\/instances\/(?:\?|$)/.test(path)
}

/** Polls that Berth reports as fresh without an answer in the service's log. */
export function inventedPolls(polls: readonly Poll[], requests: readonly LoggedRequest[]): string[] {
  const good = requests.filter(
    ({ method, path, status, fault }) =>
      method === 'GET' && isList(path) && status === 200 && (fault === null || fault === 'delay'),
  )
  let next = 0
  return polls.flatMap(({ at, until }) => {
    while (next < good.length && (good[next]?.at ?? 0) < at) next += 1
    const answered = (good[next]?.at ?? Number.POSITIVE_INFINITY) <= until
    return answered ? [] : [`a poll from ${at} to ${until} that the service knows nothing of`]
  })
}
