import * as v from 'valibot'
import type { Clock, Files, Notice, Notifier } from '#platform/platform.ts'
import { recordedMoment } from '#shared/derived.ts'
import { AccountId } from '#shared/ids.ts'
import type { Settings } from '#shared/settings.ts'
import type { PageNotice } from '#shared/state.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import type { Store } from '../storage/store.ts'

/** For the page: the subject, and a text without the account's name. */
type OnPage = Pick<PageNotice, 'account' | 'kind' | 'instance' | 'body'>

export type PageNotices = Awaited<ReturnType<typeof openPageNotices>>

/** Notices that wait for the end of the quiet hours, oldest first. */
const Withheld = v.array(v.object({ id: v.string(), title: v.string() }))
type Withheld = v.InferOutput<typeof Withheld>

/** Notices that stay on the page until the user dismisses them, also after a restart. */
const Kept = v.array(
  v.object({
    id: v.string(),
    account: v.optional(AccountId),
    title: v.string(),
    body: v.string(),
    urgency: v.picklist(['low', 'normal', 'critical']),
  }),
)

/** Notices on the page at once; the oldest are removed. */
const mostOnPage = 20
/** Milliseconds between checks for the end of the quiet hours, which also cover sleep and changed settings. */
const glance = 30_000

export interface PageNoticesContext {
  store: Store
  clock: Clock
  notifier: Notifier
  /** Stores waiting notices across restarts. */
  files: Files
  onBroken: DocumentPlace['onBroken']
}

/** Shows notices as native notifications, or on the page where this computer has none. */
export async function openPageNotices(context: PageNoticesContext) {
  const { store, clock, notifier } = context
  const place = { ...context, platform: { clock } }
  const withheld = await openDocument(place, 'withheld', Withheld, [])
  const kept = await openDocument(place, 'kept-notices', Kept, [])
  let cancel: (() => void) | undefined

  function showOnPage(notice: Notice, onPage: OnPage | undefined): void {
    store.change(draft => {
      const at = recordedMoment(draft.accounts[onPage?.account ?? ''], clock.now())
      draft.notices[notice.id] = { ...notice, ...onPage, actions: [...notice.actions], at }
      const oldest = Object.values(store.get().notices).sort((a, b) => a.at - b.at)
      for (const { id } of oldest.slice(0, Math.max(0, oldest.length - mostOnPage))) delete draft.notices[id]
    })
  }

  function isHeld(urgency: Notice['urgency']): boolean {
    return mustWait(urgency, store.get().settings.quietHours, minuteOfDay(clock.now()))
  }

  /** The ids of all that the desktop was given and didn't refuse. */
  const onDesktop = new Set<string>()
  /** The demo's waiting notices, in memory only. */
  let ofDemo: Withheld = []
  const waiting = () => [...withheld.get(), ...ofDemo]

  function drop(id: string): void {
    if (kept.get().some(other => other.id === id)) kept.writeSoon(all => all.filter(other => other.id !== id))
    ofDemo = ofDemo.filter(other => other.id !== id)
    if (withheld.get().some(other => other.id === id))
      withheld.writeSoon(kept => kept.filter(other => other.id !== id))
  }

  function withhold({ id, title }: Notice): void {
    drop(id)
    if (id.startsWith('demo/')) ofDemo = [...ofDemo, { id, title }]
    else withheld.writeSoon(kept => [...kept, { id, title }])
  }

  function watch(): void {
    cancel?.()
    if (waiting().length === 0) return
    cancel = clock.after(glance, () => {
      if (!isHeld('normal')) showWaiting()
      watch()
    })
  }

  function showWaiting(): void {
    const notice = summary(waiting().map(({ title }) => title))
    ofDemo = []
    withheld.writeSoon(() => [])
    if (notice) show({ ...notice, id: 'quiet-hours', urgency: 'normal', actions: [] })
  }

  function show(notice: Notice, onPage?: OnPage): void {
    if (!notifier.available) {
      showOnPage(notice, onPage)
      return
    }
    if (isHeld(notice.urgency)) {
      withhold(notice)
      watch()
      return
    }
    onDesktop.add(notice.id)
    void notifier.show(notice).catch(() => {
      onDesktop.delete(notice.id)
      showOnPage(notice, onPage)
    })
  }

  /** Resolves once the desktop no longer shows it, either. */
  async function takeOff(id: string): Promise<void> {
    if (id in store.get().notices)
      store.change(draft => {
        delete draft.notices[id]
      })
    drop(id)
    onDesktop.delete(id)
    await notifier.close(id).catch(() => undefined)
  }

  watch()
  for (const notice of kept.get()) showOnPage({ ...notice, actions: [] }, notice)
  return {
    show,
    /** Shows it on the page, too, until the user dismisses it there. */
    keep(notice: Notice, account: AccountId | undefined): void {
      const { id, title, body, urgency } = notice
      const stored = { id, title, body, urgency, account }
      if (account !== 'demo')
        kept.writeSoon(all => [...all.filter(other => other.id !== id), stored].slice(-mostOnPage))
      showOnPage(notice, stored)
      if (notifier.available) show(notice, stored)
    },
    /** Removes a notice from the screen, and from those that wait. */
    takeOff: (id: string): void => void takeOff(id),
    /** The same for all of an account that Berth no longer has. */
    async takeOffAccount(account: AccountId): Promise<void> {
      const { notices } = store.get()
      const ids = [
        ...onDesktop,
        ...Object.keys(notices),
        ...kept.get().map(({ id }) => id),
        ...waiting().map(({ id }) => id),
      ]
      const ofAccount = (id: string) =>
        id.startsWith(`${account}/`) ||
        notices[id]?.account === account ||
        kept.get().some(one => one.id === id && one.account === account)
      await Promise.all([...new Set(ids)].filter(ofAccount).map(takeOff))
    },
    /** Whether it is on the page now. */
    isOnPage: (id: string): boolean => id in store.get().notices,
    /** Stops waiting for the end of the quiet hours, and writes pending changes. */
    async close(): Promise<void> {
      cancel?.()
      await Promise.all([withheld.flush(), kept.flush()])
    },
  }
}

type QuietHours = Settings['quietHours']

/** Whether a minute of the user's day (0 to 1439) is in the quiet hours, which may span midnight. */
export function isQuiet({ on, from, to }: QuietHours, minute: number): boolean {
  if (!on) return false
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  return begin <= end ? minute >= begin && minute < end : minute >= begin || minute < end
}

/** The minute of the user's day at epoch milliseconds of this computer. */
export function minuteOfDay(at: number): number {
  const moment = new Date(at)
  return moment.getHours() * 60 + moment.getMinutes()
}

/** Whether a notice has to wait for the end of the quiet hours. */
function mustWait(urgency: Notice['urgency'], hours: QuietHours, minute: number): boolean {
  return isQuiet(hours, minute) && !(urgency === 'critical' && hours.critical)
}

/** The number of titles that a summary names. */
const most = 4

/** A notice that sums up those that waited; undefined when none did. */
export function summary(titles: readonly string[]): Pick<Notice, 'title' | 'body'> | undefined {
  if (titles.length === 0) return undefined
  const more = titles.length - most
  const named = titles.slice(0, most).map(title => `${title}.`)
  return {
    title:
      titles.length === 1 ? 'One alert during quiet hours' : `${titles.length} alerts during quiet hours`,
    body: [...named, ...(more > 0 ? [`And ${more} more.`] : [])].join(' '),
  }
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}
