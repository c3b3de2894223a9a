import type { Activity } from '#core/activity.ts'
import type { Notifications } from '#core/alerts/notifications.ts'
import type { Clock } from '#platform/platform.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { ConnectionState } from '#shared/state.ts'
import { goTo, isDeepEqual, type Store } from '../storage/store.ts'

export type ConnectionStatus = ReturnType<typeof createConnectionStatus>

/** An account's connection status: in State, in Activity and, where the user has to act, in a notification. */
export function createConnectionStatus(context: {
  account: AccountId
  store: Store
  activity: Activity
  notifications: Pick<Notifications, 'say' | 'withdraw'>
  /** When an earlier session last saw the account, epoch seconds of its time. */
  seenAt: number | undefined
  /** The same by this machine's clock, epoch milliseconds. */
  heardAt: number | undefined
  clock: Pick<Clock, 'now'>
}) {
  const { account: id, store, activity, notifications, clock } = context
  let { seenAt, heardAt } = context
  let doubting = false
  /** That the service answered for another account, until it answers for this one again. */
  let otherUser: Problem | undefined
  const noticeId = `${id}/key`

  const account = () => store.get().accounts[id]
  const since = () => (seenAt === undefined ? {} : { since: seenAt, heardAt })

  function set(connection: ConnectionState): void {
    if (isDeepEqual(account()?.connection, connection)) return
    store.change(draft => {
      const target = draft.accounts[id]
      if (target) target.connection = connection
    })
  }

  function note({ message, advice }: Problem): void {
    activity.add({ account: id, kind: 'error', text: message, detail: advice || undefined })
  }

  function notify({ advice }: Problem): void {
    const also = advice === undefined ? '' : ` ${advice}`
    notifications.say(
      {
        id: noticeId,
        title: `The API key of ${account()?.name} was refused`,
        body: `Until a key works, nothing is monitored and limits don’t act. Berth keeps trying.${also}`,
        urgency: 'normal',
        actions: [],
      },
      () => goTo(store, id, { screen: 'instances' }),
    )
  }

  return {
    connecting(): void {
      notifications.withdraw(noticeId)
      set({ status: 'connecting', ...since() })
    },
    /** There is no API key. */
    locked: (problem: Problem): void => set({ status: 'locked', ...since(), problem }),
    /** A poll failed. `answered`: the HTTP status, if there was an answer. */
    offline(problem: Problem, answered: number | undefined): void {
      const before = account()?.connection.status
      if (problem.code === 'other_user') otherUser = problem
      set({ status: 'offline', ...since(), problem, answered })
      if (before === 'online' || before === 'connecting') note(problem)
    },
    /** When the next poll follows a failed one, epoch milliseconds on this machine. */
    retriesAt(retryAt: number): void {
      const connection = account()?.connection
      if (connection?.status === 'offline') set({ ...connection, retryAt })
    },
    /** The key was refused. */
    refused(problem: Problem): void {
      const before = account()?.connection.status
      set({ status: 'refused', ...since(), problem })
      if (before === 'refused') return
      note(problem)
      // A key that never worked was just entered, so the user sees the refusal on the page.
      if (seenAt !== undefined) notify(problem)
    },
    /**
     * Call when the key is refused. The first time, it returns true and the poll is to be repeated before the refusal
     * counts, since a proxy's error may look like one. Returns false where the refusal counts.
     */
    doubted(): boolean {
      if (doubting || seenAt === undefined || account()?.connection.status === 'refused') return false
      doubting = true
      set({ status: 'connecting', ...since() })
      return true
    },
    /** Why the list of instances was uncertain, and why it is now; undefined where it is certain. */
    certain(before: string | undefined, now: string | undefined): void {
      const name = account()?.name
      if (before === undefined && now !== undefined)
        activity.add({ account: id, kind: 'error', text: now, detail: untilCertain })
      if (before !== undefined && now === undefined)
        activity.add({
          account: id,
          kind: 'berth',
          text: `The instance list of ${name} is complete again`,
        })
    },
    /** Why nothing that changes something may be sent now: it would concern another account. */
    hindrance: (): Problem | undefined => otherUser,
    /** A poll succeeded. `before`: the connection before it; `isOwn`: it said for which account. */
    seen({ status }: ConnectionState, at: number, isOwn: boolean): void {
      seenAt = at
      heardAt = clock.now()
      if (isOwn) otherUser = undefined
      doubting = false
      const name = account()?.name
      if (status === 'offline') activity.add({ account: id, kind: 'berth', text: `${name} answers again` })
      if (status !== 'refused') return
      notifications.withdraw(noticeId)
      activity.add({ account: id, kind: 'berth', text: `The API key of ${name} is accepted again` })
    },
  }
}

const untilCertain =
  'Until it’s complete, Berth treats no instance as gone, retries no rental, and lets ' +
  'limits act only on instances that the service confirms one by one.'
