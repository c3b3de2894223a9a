import { accountPrefix } from '#shared/derived.ts'
import type { AccountView, ActivityEntry, PageNotice, State } from '#shared/state.ts'

const weight = { critical: 2, normal: 1, low: 0 }

/** The worst first, then the newest. */
export function worstThenNewest(notices: readonly PageNotice[]): PageNotice[] {
  return notices.toSorted((a, b) => weight[b.urgency] - weight[a.urgency] || b.at - a.at)
}

/**
 * The notice that needs a decision now: the worst that is critical and has a button, or an offer that a watch found, which
 * waits for nobody. On Home and Instances the rows of the shown account say what they need themselves, at the top.
 */
export function decisionOf(
  notices: readonly PageNotice[],
  screen: string,
  shown: Pick<AccountView, 'id' | 'instances'> | undefined,
): PageNotice | undefined {
  const inRow = ({ account, instance }: PageNotice) =>
    (screen === 'instances' || screen === 'home') &&
    account === shown?.id &&
    shown?.instances[instance ?? ''] !== undefined
  return worstThenNewest(notices).find(
    notice => notice.actions.length > 0 && (notice.urgency === 'critical' || asks(notice)) && !inRow(notice),
  )
}

/** Whether a watch asks to rent an offer that it found. */
function asks({ kind, actions }: PageNotice): boolean {
  return kind === 'watch' && actions.some(({ id }) => id === 'rent')
}

/** The alerts that Activity has of an account and of none, the newest first. */
export function latestAlerts(
  activity: Readonly<Record<string, ActivityEntry>>,
  shown: string | undefined,
): ActivityEntry[] {
  return Object.values(activity)
    .filter(({ kind, account }) => kind === 'alert' && (account === undefined || account === shown))
    .sort((a, b) => (a.id < b.id ? 1 : -1))
}

/** The account's name such as `Demo: `, where a notice could be taken for another account's. */
export function whoseNotice(
  state: Pick<State, 'accounts'> | undefined,
  notice: PageNotice | undefined,
): string {
  return notice?.account === undefined || !state ? '' : accountPrefix(state.accounts, notice.account)
}

/** Notices that say the same of several instances, or one alone. */
export interface NoticeGroup {
  id: string
  /** `5 instances were stopped`; absent for one alone. */
  title?: string
  /** The rest of their common text. */
  body?: string
  notices: PageNotice[]
}

/** So many that say the same are shown as one. */
const leastAlike = 3

/** Notices in their order; those that say the same of three or more instances become one group, at the first's place. */
export function groupNotices(notices: readonly PageNotice[]): NoticeGroup[] {
  const alike = new Map<string, PageNotice[]>()
  for (const notice of notices) {
    const phrase = saidOf(notice)
    const key =
      phrase === undefined ? notice.id : [notice.account, notice.kind, notice.urgency, phrase].join(' ')
    alike.set(key, [...(alike.get(key) ?? []), notice])
  }
  return [...alike].flatMap(([id, members]): NoticeGroup[] => {
    const phrase = members[0] && saidOf(members[0])
    if (phrase === undefined || members.length < leastAlike)
      return members.map(notice => ({ id: notice.id, notices: [notice] }))
    const bodies = new Set(members.map(({ body }) => body))
    const [body] = bodies
    return [
      {
        id,
        title: `${members.length} instances ${inPlural(phrase)}`,
        ...(bodies.size === 1 &&
          body && { body: body.replace(/^Its /, 'Their ').replace(/^It is /, 'They are ') }),
        notices: members,
      },
    ]
  })
}

/**
 * A title's statement about its one instance: `was outbid` of `llama #4711 was outbid`; undefined where it is about
 * none.
 */
function saidOf({ title, instance }: PageNotice): string | undefined {
  if (instance === undefined) return undefined
  const [before = '', after] = title.split(`#${instance}`)
  if (after === undefined || /^\d/.test(after)) return undefined
  const verb = ['Stopped ', 'Destroyed '].find(start => before.startsWith(start)) ?? ''
  return `${verb}${after.trim()}`.trim() || undefined
}

const plurals: Readonly<Record<string, string>> = {
  was: 'were',
  is: 'are',
  has: 'have',
  stops: 'stop',
  waits: 'wait',
}

function inPlural(phrase: string): string {
  const [verb = '', ...rest] = phrase.split(' ')
  return [plurals[verb] ?? verb.toLowerCase(), ...rest].join(' ')
}

/** The notices that came or now say something else; a changing figure, such as the credit, is no news. */
export function newsIn(
  before: Readonly<Record<string, PageNotice>>,
  after: Readonly<Record<string, PageNotice>>,
): PageNotice[] {
  return Object.values(after).filter(notice => {
    const old = before[notice.id]
    return old === undefined || newsOf(old) !== newsOf(notice)
  })
}

/** The part of its title that is news once it changes. */
function newsOf({ kind, title }: PageNotice): string {
  return kind === 'lowCredit' ? title.replaceAll(/[\d.,]/g, '') : title
}
