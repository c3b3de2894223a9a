import { starting, startsUnlimited, stoppersOf } from '#contract/automation/stoppers.ts'
import type { CommandName } from '#contract/commands.ts'
import { BerthError } from '#contract/problem.ts'
import { accountNow } from '#contract/reading.ts'
import type { RunningBerth } from '#core/running.ts'
import type { TrayAction } from './tray-words.ts'

/** Needs of the tray's actions. */
export interface TrayReach {
  berth: Pick<RunningBerth, 'dispatch' | 'goTo' | 'say' | 'state'>
  openWindow: () => void
  quit: () => void
  /** Epoch milliseconds of this machine. */
  now: () => number
  /** Copies a text to the clipboard. */
  copy: (text: string) => Promise<void>
}

/** Gives the function that runs an action. A failed command shows a notification, since the window may be closed. */
export function trayActions(reach: TrayReach): (action: TrayAction) => Promise<void> {
  const { berth, openWindow, quit, copy } = reach

  async function give(name: CommandName, args: unknown, what: string): Promise<unknown> {
    try {
      return await berth.dispatch(name, args)
    } catch (error) {
      const body = failure(error)
      berth.say({ id: 'tray-command', title: `Could not ${what}`, body, urgency: 'normal', actions: [] })
      return undefined
    }
  }

  /** Whether a limit would stop the instance as soon as it runs, or nothing ever would, judging by State. */
  function needsQuestion(account: string, id: number): boolean {
    const view = berth.state().accounts[account]
    const instance = view?.instances[id]
    if (!view || !instance) return false
    const stoppers = stoppersOf(view, starting(instance), accountNow(view.clock, reach.now()))
    return stoppers.length > 0 || startsUnlimited(view, id)
  }

  return async action => {
    switch (action.kind) {
      case 'open':
        return openWindow()
      case 'quit':
        return quit()
      case 'go':
        return berth.goTo(action.account, action.place)
      case 'start': {
        const { account, instance, what } = action
        if (needsQuestion(account, instance))
          return berth.goTo(account, { screen: 'instances', instance, ask: 'start' })
        await give('startInstance', { account, instance }, what)
        return
      }
      case 'command':
        await give(action.name, action.args, action.what)
        return
      case 'copy': {
        const answer = await give(action.name, action.args, action.what)
        if (typeof answer === 'string') await copy(answer)
      }
    }
  }
}

function failure(error: unknown): string {
  if (!(error instanceof BerthError)) return 'Something in Berth failed. See its log.'
  const { message, advice } = error.problem
  return advice === undefined ? message : `${message} ${advice}`
}
