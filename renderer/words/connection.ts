import { outageWords } from '#contract/outage.ts'
import type { ConnectionState } from '#contract/state.ts'
import type { Shape } from './state.ts'

/** How an account is reached, in a few words and a shape; `uncertain`: its list of instances is not certain. */
export function connectionWords(
  connection: ConnectionState,
  uncertain = false,
): { word: string; shape: Shape } {
  switch (connection.status) {
    case 'online':
      if (uncertain) return { word: 'List not certain', shape: 'needs-you' }
      return { word: 'Online', shape: 'running' }
    case 'connecting':
      return { word: 'Connecting', shape: 'busy' }
    case 'offline':
      return { word: outageWords(connection), shape: 'needs-you' }
    case 'refused':
      return { word: 'Key refused', shape: 'needs-you' }
    case 'locked':
      return { word: 'Key missing', shape: 'needs-you' }
  }
}
