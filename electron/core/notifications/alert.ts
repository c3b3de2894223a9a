import type { Settings } from '../../contract/app/settings.ts'
import type { CommandName } from '../../contract/commands.ts'
import type { InstanceState } from '../../contract/instance/instance.ts'
import type { Place } from '../../contract/state.ts'

/** Something the user should hear about. A later alert with the same id takes the place of the earlier one. */
export interface Alert {
  id: string
  kind: keyof Settings['alerts']
  instance?: number
  /** The state of that instance which it tells of: where the state is another, the alert is over. */
  state?: InstanceState
  title: string
  body: string
  urgency: 'normal' | 'critical'
  /** Buttons that answer it. One with a command gives it; the others lead to where the question is answered. */
  actions: readonly AlertButton[]
  place: Place
}

export interface AlertButton {
  id: AlertAction | 'command' | `command-${string}`
  label: string
  /** Nothing that spends or destroys: a click on a notification is easily made. */
  command?: { name: CommandName; args: unknown }
}

export type AlertAction = 'terminal' | 'stop' | 'raise_bid' | 'try_another' | 'top_up' | 'show'
