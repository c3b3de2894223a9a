import type { InstanceView } from '#shared/instance/instance.ts'
import type { TunnelView } from '#shared/instance/tunnel.ts'

interface Step {
  name: string
  current: boolean
}

/** The steps of opening a tunnel, with the present one. */
export function tunnelSteps({ kind, step, name }: TunnelView): Step[] {
  const steps: [TunnelView['step'], string][] = [
    ['connecting', 'connecting'],
    ...(kind === 'jupyter' ? [['token', 'asking for its token'] satisfies [TunnelView['step'], string]] : []),
    ['waiting', `waiting for ${name}`],
  ]
  return steps.map(([at, words]) => ({ name: words, current: at === step }))
}

/** Whether a tunnel has a note in its instance's row. */
export function needsNote({ step, web, reached, problem }: TunnelView): boolean {
  // The row shows that an instance is stopped; its tunnel resumes with it.
  if (step === 'reconnecting' && problem?.code === 'not_running') return false
  return step !== 'open' || (web === true && !reached)
}

/** Whether it tells something about an instance in that state: a failure is past once the instance rests. */
export function isOf(
  { instance, step }: TunnelView,
  { id, state }: Pick<InstanceView, 'id' | 'state'>,
): boolean {
  return instance === id && (step !== 'failed' || state === 'running')
}

/** The open tunnel's address on this computer. */
export function tunnelAddress({ host, localPort }: TunnelView): string | undefined {
  return localPort === undefined ? undefined : `${host}:${localPort}`
}

/** Where an open tunnel's page waits for the browser, and what to do if that is not found there. */
export function whereItWaits(tunnel: TunnelView, atLoopback: boolean): string {
  if (atLoopback) return `${tunnel.name} waits for your browser at 127.0.0.1:${tunnel.localPort}.`
  return (
    `${tunnel.name} waits for your browser at ${tunnelAddress(tunnel)}. If your browser can’t find that name, ` +
    `open it at 127.0.0.1. ${loopbackCost}`
  )
}

/** The drawback of 127.0.0.1. */
export const loopbackCost = 'There, pages of different instances share cookies that scripts can read.'

/** A tunnel's state in a word or two. */
export function tunnelState({ step }: TunnelView): string {
  switch (step) {
    case 'open':
      return 'Open'
    case 'reconnecting':
      return 'Reconnecting'
    case 'failed':
      return 'Failed'
    default:
      return 'Opening'
  }
}

/** Codes of problems that end automatically when the network is back. */
const passing: ReadonlySet<string> = new Set(['ssh_closed', 'ssh_unreachable', 'ssh_timeout'])

/** A tunnel's problem in one line. */
export function tunnelTrouble({ name, step, problem }: TunnelView): string {
  if (step === 'reconnecting' && (!problem || passing.has(problem.code)))
    return `${name}: the connection was lost. It reconnects at the same address.`
  if (step === 'reconnecting' && problem?.code === 'not_running')
    return `${name} reconnects at the same address once the instance runs.`
  return [problem?.message ?? `${name} couldn’t be opened.`, problem?.advice].filter(Boolean).join(' ')
}
