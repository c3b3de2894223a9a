import type { AccountId } from '../../contract/ids.ts'
import type { State } from '../../contract/state.ts'
import type { Alert } from './alert.ts'

/** What a page shows, as it says itself. */
export interface PagePlace {
  /** Whether it is the window that the user works in. */
  focused: boolean
  screen: string
  instance?: number
}

/** What a row of the list of instances tells by itself; anything else is more than its row shows. */
const shownByRow: readonly Alert['kind'][] = ['ready', 'outbid', 'halted', 'crashed', 'hostGone']

/** Whether a page that the user has before them shows what an alert would tell. */
export function isBeforeUser(
  alert: Pick<Alert, 'kind' | 'instance'>,
  account: AccountId,
  state: Pick<State, 'shown'>,
  pages: Iterable<PagePlace>,
): boolean {
  if (state.shown !== account) return false
  return [...pages].some(({ focused, screen, instance }) => {
    if (!focused) return false
    if (alert.kind === 'lowCredit') return screen === 'account'
    const ofIt = instance === undefined || instance === alert.instance
    return screen === 'instances' && ofIt && shownByRow.includes(alert.kind)
  })
}
