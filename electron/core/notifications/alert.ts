import type { Settings } from '#contract/app/settings.ts'
import type { CommandName } from '#contract/commands.ts'
import type { InstanceState } from '#contract/instance/instance.ts'
import type { Place } from '#contract/state.ts'

/** Something the user should hear about. A later alert replaces the earlier one with the same id. */
export interface Alert {
  id: string
  kind: keyof Settings['alerts']
  instance?: number
  /** The instance state it reports: the alert is over once the state is another. */
  state?: InstanceState
  title: string
  body: string
  urgency: 'normal' | 'critical'
  /** Good news: it's green in Activity. */
  good?: true
  /** Its buttons. One with a command runs it; the others lead to where the question is answered. */
  actions: readonly AlertButton[]
  place: Place
}

export interface AlertButton {
  id: AlertAction | 'command' | `command-${string}`
  label: string
  /** Never one that spends or destroys, since a notification is easily clicked by mistake. */
  command?: { name: CommandName; args: unknown }
}

export type AlertAction = 'terminal' | 'rent' | 'stop' | 'raise_bid' | 'try_another' | 'top_up' | 'show'
