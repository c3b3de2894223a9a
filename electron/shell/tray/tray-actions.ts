import { BerthError } from '../../contract/problem.ts'
import type { RunningBerth } from '../../core/running.ts'
import type { TrayAction } from './tray-menu.ts'

/** What the tray's clicks reach. */
export interface TrayReach {
  berth: Pick<RunningBerth, 'dispatch' | 'goTo' | 'say'>
  openWindow: () => void
  quit: () => void
  /** Puts a text on the clipboard. */
  copy: (text: string) => void
}

/** Does what was clicked. A command that fails is told by a notification: the window may be closed. */
export function trayActions(reach: TrayReach): (action: TrayAction) => Promise<void> {
  const { berth, openWindow, quit, copy } = reach
  return async action => {
    switch (action.kind) {
      case 'open':
        return openWindow()
      case 'quit':
        return quit()
      case 'go':
        return berth.goTo(action.account, action.place)
      case 'command':
      case 'copy':
        try {
          const answer = await berth.dispatch(action.name, action.args)
          if (action.kind === 'copy' && typeof answer === 'string') copy(answer)
        } catch (error) {
          berth.say({
            id: 'tray-command',
            title: `Could not ${action.what}`,
            body: failure(error),
            urgency: 'normal',
            actions: [],
          })
        }
    }
  }
}

function failure(error: unknown): string {
  if (!(error instanceof BerthError)) return 'Something in Berth failed. Its log says more.'
  const { message, advice } = error.problem
  return advice === undefined ? message : `${message} ${advice}`
}
