import type { Store } from '#core/state/store.ts'
import { goTo } from '../go-to.ts'
import { parseLink } from './link.ts'
import { linkTarget } from './link-target.ts'

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
