import type { Clock } from '#platform/platform.ts'
import type { Activity } from '../activity.ts'
import type { Notifications } from '../alerts/notifications.ts'
import { goTo, type Store } from '../storage/store.ts'

/** The user's pause of automatic polling. Commands still work. */
export interface Pause {
  begin(minutes: number): void
  end(): void
  /** Polls all accounts unless paused; ends a pause that expired during sleep. */
  pollNow(): void
  /** Stops waiting for the pause's end. */
  close(): void
}

/** Milliseconds between checks, so that sleep or a changed clock is noticed. */
const glance = 30_000

/** Whether automatic polling is paused. A pause ends with Berth. */
export function isPaused(store: Store, clock: Clock): boolean {
  const { pausedUntil } = store.get()
  return pausedUntil !== undefined && clock.now() < pausedUntil
}

interface PauseContext {
  store: Store
  clock: Clock
  activity: Activity
  notifications: Pick<Notifications, 'say' | 'withdraw'>
  pollAccounts: () => void
}

const noticeId = 'pause'

export function createPause({ store, clock, activity, notifications, pollAccounts }: PauseContext): Pause {
  let cancel: (() => void) | undefined

  function until(at: number | undefined): void {
    store.change(draft => {
      if (at === undefined) delete draft.pausedUntil
      else draft.pausedUntil = at
    })
  }

  function wait(): void {
    cancel?.()
    const left = (store.get().pausedUntil ?? 0) - clock.now()
    cancel = clock.after(Math.max(0, Math.min(left, glance)), () => {
      if (isPaused(store, clock)) wait()
      else end()
    })
  }

  function end(): void {
    cancel?.()
    if (store.get().pausedUntil === undefined) return
    until(undefined)
    notifications.withdraw(noticeId)
    activity.add({ kind: 'berth', text: 'Resumed polling' })
    pollAccounts()
  }

  return {
    begin(minutes) {
      until(clock.now() + minutes * 60_000)
      wait()
      activity.add({
        kind: 'user',
        text: `Paused for ${minutes} minutes`,
        detail: 'Until then you get no alerts.',
      })
      notifications.say(
        {
          id: noticeId,
          title: `Monitoring is paused for ${minutes} minutes`,
          body: 'Until then you get no alerts, and limits don’t act.',
          urgency: 'normal',
          actions: [{ id: 'resume', label: 'Resume Berth' }],
        },
        action => (action === 'resume' ? end() : goTo(store, undefined, { screen: 'activity' })),
      )
    },
    end,
    pollNow() {
      if (isPaused(store, clock)) return
      if (store.get().pausedUntil === undefined) pollAccounts()
      else end()
    },
    close: () => cancel?.(),
  }
}
