import type { Store } from '../../state/store.ts'
import { goTo } from '../go-to.ts'
import { parseLink } from './link.ts'
import { linkTarget } from './link-target.ts'

/** Goes where a link from outside leads, or says why it leads nowhere. It only shows: what does more is asked there. */
export function followLink(store: Store, text: string, say: (title: string, body: string) => void): void {
  const link = parseLink(text)
  const target = link ? linkTarget(link, store.get()) : { problem: notALink }
  if (!('problem' in target)) {
    goTo(store, target.account, target.place)
    return
  }
  const { message, advice } = target.problem
  const body = advice === undefined ? message : `${message} ${advice}`
  // What the link said is not repeated: its author chose the words.
  say('A link leads nowhere', body)
}

const notALink = {
  code: 'bad_link',
  message: 'It is none that Berth knows.',
  advice: 'One to an instance is written berth://instance/4711.',
}
