import type { AccountId } from '#contract/ids.ts'
import type { Problem } from '#contract/problem.ts'
import type { Place, State } from '#contract/state.ts'
import type { Store } from '#core/state/store.ts'
import { goTo } from './go-to.ts'
import { type Link, parseLink } from './link.ts'

/** Opens the place of an external link, or explains why it has none. It only navigates; the user confirms the rest. */
export function followLink(store: Store, text: string, say: (title: string, body: string) => void): void {
  const link = parseLink(text)
  const target = link ? linkTarget(link, store.get()) : { problem: notALink }
  if (!('problem' in target)) {
    goTo(store, target.account, target.place)
    return
  }
  const { message, advice } = target.problem
  const body = advice === undefined ? message : `${message} ${advice}`
  // The link's own words are not shown, since its author chose them.
  say('Berth doesn’t know this link', body)
}

const notALink = {
  code: 'bad_link',
  message: 'It may be from a newer version.',
  advice: 'A link to an instance looks like berth://instance/4711.',
}

/** A link's place and the account to show, or why it has none here. */
type LinkTarget = { account: AccountId | undefined; place: Place } | { problem: Problem }

export function linkTarget(link: Link, state: Pick<State, 'accounts' | 'shown' | 'projects'>): LinkTarget {
  const { accounts, shown } = state
  if (link.to === 'demo') {
    if ('demo' in accounts) return { account: 'demo', place: { screen: 'instances' } }
    return { problem: noDemo }
  }
  const { place, account } = link
  if (account !== undefined && !Object.hasOwn(accounts, account)) return { problem: noSuchAccount }
  if (
    place.screen === 'projects' &&
    place.project !== undefined &&
    !Object.hasOwn(state.projects, place.project)
  )
    return { problem: noSuchProject }
  if (place.screen !== 'instances' || place.instance === undefined)
    return { account: account ?? shown, place }
  const { instance } = place
  const candidates = account === undefined ? [shown ?? '', ...Object.keys(accounts)] : [account]
  const having = candidates.find(id => accounts[id]?.instances[instance] !== undefined)
  return having === undefined ? { problem: noSuchInstance(instance) } : { account: having, place }
}

const noDemo: Problem = {
  code: 'no_demo',
  message: 'The demo is not running.',
  advice: 'Start Berth with --demo to have it next to your accounts.',
}

const noSuchAccount: Problem = {
  code: 'no_such_account',
  message: 'This link is for an account that isn’t connected here.',
}

const noSuchProject: Problem = {
  code: 'no_such_project',
  message: 'This link is for a project that isn’t in your list.',
  advice: 'Add its folder in Projects.',
}

function noSuchInstance(instance: number): Problem {
  return {
    code: 'no_such_instance',
    message: `Instance #${instance} isn’t on any of your accounts.`,
    advice: 'It may have been destroyed, or its account isn’t connected.',
  }
}
