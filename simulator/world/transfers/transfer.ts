/** The source or target of a transfer. */
export interface Side {
  /** Null for the caller's own machine and for a cloud. */
  instanceId: number | null
  path: string
}

/** How a transfer ended, in world milliseconds. */
export interface End {
  at: number
  how: 'done' | 'cancelled' | 'failed'
}

/** A copy between instances, or a sync of an instance with a cloud. Times in world milliseconds. */
export interface Transfer {
  readonly kind: 'copy' | 'sync'
  readonly from: Side
  readonly to: Side
  readonly started: number
  /** Milliseconds it takes if nothing interrupts it. */
  readonly takes: number
  end: End | null
}

/** Milliseconds by which the status line lags behind a transfer (section 4.3). */
const LATE = 30_000
/** Milliseconds for which the end of a transfer stays in the status line. */
const LINGERS = 600_000

/** The instances of a transfer. */
export function instancesOf({ from, to }: Transfer): number[] {
  return [from.instanceId, to.instanceId].filter(id => id !== null)
}

/** The status line for a transfer at a moment; null before and long after it. */
export function statusLine(transfer: Transfer, now: number): string | null {
  const seen = now - LATE
  const { started, takes, end } = transfer
  if (seen < started) return null
  if (!end || seen < end.at)
    return `${title(transfer)}: ${Math.min(99, Math.floor(((seen - started) / takes) * 100))} %`
  if (seen > end.at + LINGERS) return null
  return `${title(transfer)}: ${end.how === 'failed' ? 'failed, an instance stopped running' : end.how}`
}

function title({ kind, from, to }: Transfer): string {
  return `${kind === 'copy' ? 'Copy' : 'Cloud sync'} of ${sideText(from, kind)} to ${sideText(to, kind)}`
}

function sideText({ instanceId, path }: Side, kind: Transfer['kind']): string {
  if (instanceId !== null) return `C.${instanceId}:${path}`
  return `${kind === 'copy' ? 'local' : 'cloud'}:${path}`
}
