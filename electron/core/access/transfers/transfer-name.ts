import type { Transfer } from './transfer.ts'

/** A transfer in a line: `copy of #12:/data to #15:/data`. */
export function transferName({ kind, from, to }: Pick<Transfer, 'kind' | 'from' | 'to'>): string {
  return `${kind === 'copy' ? 'copy' : 'cloud sync'} of ${side(from)} to ${side(to)}`
}

function side({ instance, path }: Transfer['from']): string {
  return `${instance === undefined ? 'cloud' : `#${instance}`}:${path}`
}
