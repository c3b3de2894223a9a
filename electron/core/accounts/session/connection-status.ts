import type { AccountId } from '../../../contract/ids.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { Connection } from '../../../contract/state.ts'
import type { Activity } from '../../app/activity.ts'
import { goTo } from '../../app/go-to.ts'
import type { Notifications } from '../../notifications/notifications.ts'
import { isDeepEqual } from '../../state/same.ts'
import type { Store } from '../../state/store.ts'

/** How an account stands with its service, in State, in Activity and, where that needs the user, in a notification. */
export interface ConnectionStatus {
  connecting(): void
  /** There is no key to ask with. */
  locked(problem: Problem): void
  /** A poll failed; `answered`: the status of the answer where there was one. */
  offline(problem: Problem, answered: number | undefined): void
  /** The key was refused. */
  refused(problem: Problem): void
  /**
   * The key was refused for the first time since it was good. A proxy's hiccup looks like that, so it is asked once
   * more before it is believed; meanwhile nothing counts as seen. False where it is to be believed.
   */
  doubted(): boolean
  /** Why the list of instances was not certain, and why it is not now; undefined where it is. */
  certain(before: string | undefined, now: string | undefined): void
  /** A poll went well. `before`: how the account stood until then. */
  seen(before: Connection, at: number): void
}

export function createConnectionStatus(context: {
  account: AccountId
  store: Store
  activity: Activity
  notifications: Pick<Notifications, 'say' | 'withdraw'>
  /** When an earlier session last saw the account, epoch seconds of its time. */
  seenAt: number | undefined
}): ConnectionStatus {
  const { account: id, store, activity, notifications } = context
  let { seenAt } = context
  let doubting = false
  const noticeId = `${id}/key`

  const account = () => store.get().accounts[id]
  const since = () => (seenAt === undefined ? {} : { since: seenAt })

  function set(connection: Connection): void {
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
        body: `Nothing is watched meanwhile, and no guard acts. Berth asks again by itself.${also}`,
        urgency: 'normal',
        actions: [],
      },
      () => goTo(store, id, { screen: 'instances' }),
    )
  }

  return {
    connecting() {
      notifications.withdraw(noticeId)
      set({ status: 'connecting', ...since() })
    },
    locked: problem => set({ status: 'locked', ...since(), problem }),
    offline(problem, answered) {
      const before = account()?.connection.status
      set({ status: 'offline', ...since(), problem, answered })
      if (before === 'online' || before === 'connecting') note(problem)
    },
    refused(problem) {
      const before = account()?.connection.status
      set({ status: 'refused', ...since(), problem })
      if (before === 'refused') return
      note(problem)
      // One that was never seen was just entered: the user is there, and the page says it.
      if (seenAt !== undefined) notify(problem)
    },
    doubted() {
      if (doubting || seenAt === undefined || account()?.connection.status === 'refused') return false
      doubting = true
      set({ status: 'connecting', ...since() })
      return true
    },
    certain(before, now) {
      const name = account()?.name
      if (before === undefined && now !== undefined)
        activity.add({ account: id, kind: 'error', text: now, detail: untilCertain })
      if (before !== undefined && now === undefined)
        activity.add({
          account: id,
          kind: 'berth',
          text: `The list of instances of ${name} is certain again`,
        })
    },
    seen({ status }, at) {
      seenAt = at
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
  'Nothing counts as gone, nothing is rented a second time, and guards act only on instances that answer by themselves.'
