import type { CommandName } from '#contract/commands.ts'
import type { RunningBerth } from '#core/running.ts'
import { dangers, type Question } from '#shared/danger.ts'
import { accountNow } from '#shared/derived.ts'
import { BerthError } from '#shared/problem.ts'
import type { TrayAction } from './tray-words.ts'

/** Needs of the tray's actions. */
export interface TrayReach {
  berth: Pick<RunningBerth, 'act' | 'dispatch' | 'goTo' | 'say' | 'state'>
  openWindow: () => void
  quit: () => void
  /** Epoch milliseconds of this machine. */
  now: () => number
  /** Asks in a dialog of the desktop, since a menu has none; true where it is confirmed. */
  ask: (question: Question) => Promise<boolean>
  /** Copies a text to the clipboard. */
  copy: (text: string) => Promise<void>
}

/** Gives the function that runs an action. A failed command shows a notification, since the window may be closed. */
export function trayActions(reach: TrayReach): (action: TrayAction) => Promise<void> {
  const { berth, openWindow, quit, ask, copy } = reach

  const give = (name: CommandName, args: unknown, what: string) =>
    attempt(() => berth.dispatch(name, args), what)

  async function attempt(doing: () => Promise<unknown>, what: string): Promise<unknown> {
    try {
      return await doing()
    } catch (error) {
      const body = failure(error)
      berth.say({ id: 'tray-command', title: `Could not ${what}`, body, urgency: 'normal', actions: [] })
      return undefined
    }
  }

  /** The page asks before a start, since it also offers a limit; the others are asked about here. */
  async function act({ account, instance, action, what }: TrayAction & { kind: 'act' }): Promise<void> {
    const view = berth.state().accounts[account]
    const on = view?.instances[instance]
    const now = view ? accountNow(view.clock, reach.now()) : 0
    const question = view && on && dangers[action].question(view, { instances: [on] }, now)
    if (question && action === 'start')
      return berth.goTo(account, { screen: 'instances', instance, ask: action })
    if (question && !(await ask(question))) return
    await attempt(() => berth.act({ account, instance }, action), what)
  }

  return async action => {
    switch (action.kind) {
      case 'open':
        return openWindow()
      case 'quit':
        return quit()
      case 'go':
        return berth.goTo(action.account, action.place)
      case 'act':
        return act(action)
      case 'command':
        await give(action.name, action.args, action.what)
        return
      case 'copy': {
        const answer = await give(action.name, action.args, action.what)
        if (typeof answer !== 'string') return
        await copy(answer)
        // Otherwise nothing shows that it happened: the menu is closed, and the window may be.
        berth.say({ id: 'tray-copied', title: 'Copied', body: answer, urgency: 'low', actions: [] })
      }
    }
  }
}

function failure(error: unknown): string {
  if (!(error instanceof BerthError)) return 'Something in Berth failed. See its log.'
  const { message, advice } = error.problem
  return advice === undefined ? message : `${message} ${advice}`
}
