import type { AccountId } from '#contract/ids.ts'
import type { State } from '#contract/state.ts'
import type { Alert } from './alert.ts'

/** What a page shows, as reported by the page. */
export interface PagePlace {
  /** Whether the page's window has the focus, as the page sees it. */
  focused: boolean
  /** Whether the window is before the user, as the window itself knows; absent in a browser. */
  isInFront?: (() => boolean) | undefined
  screen: string
  instance?: number
  /** Whether it has text that is not saved. */
  unsaved?: boolean
}

/** The kinds of alert that the list of instances shows in a row. */
const shownByRow: readonly Alert['kind'][] = ['ready', 'outbid', 'halted', 'crashed', 'hostGone']

/** Whether a page before the user already shows what an alert says. */
export function isBeforeUser(
  alert: Pick<Alert, 'kind' | 'instance'>,
  account: AccountId,
  state: Pick<State, 'shown'>,
  pages: Iterable<PagePlace>,
): boolean {
  if (state.shown !== account) return false
  return [...pages].some(({ focused, isInFront, screen, instance }) => {
    if (!(isInFront?.() ?? focused)) return false
    if (alert.kind === 'lowCredit') return screen === 'account'
    const ofIt = instance === undefined || instance === alert.instance
    return screen === 'instances' && ofIt && shownByRow.includes(alert.kind)
  })
}
