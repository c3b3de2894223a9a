import type { Connection } from '../../../../electron/contract/state.ts'
import type { Shape } from '../../../words/state.ts'

/** How an account is reached, as a word and a shape. */
export function connectionWords({ status }: Connection): { word: string; shape: Shape } {
  switch (status) {
    case 'online':
      return { word: 'Online', shape: 'running' }
    case 'connecting':
      return { word: 'Connecting', shape: 'busy' }
    case 'offline':
      return { word: 'Out of reach', shape: 'needs-you' }
    case 'refused':
      return { word: 'Key refused', shape: 'needs-you' }
    case 'locked':
      return { word: 'Key not at hand', shape: 'needs-you' }
  }
}
