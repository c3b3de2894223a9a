import * as v from 'valibot'
import type { MainMessage } from '#contract/messages.ts'
import type { PageLink } from '#core/running.ts'
import type { Store } from '#core/storage/store.ts'
import type { Clock, Log } from '#platform/platform.ts'
import { formOf, nothingPermitted, type Spender, spenderParts } from '#shared/spending/spender.ts'
import type { Activity } from '../activity.ts'
import type { Dispatch } from './dispatcher.ts'
import { problemOf } from './problems.ts'
import { createStreams, type Streams } from './streams.ts'

const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const stream = v.pipe(v.number(), v.safeInteger(), v.minValue(1))

const PageMessageShape = v.variant('kind', [
  v.object({
    kind: v.literal('command'),
    call: v.pipe(v.number(), v.safeInteger()),
    name: v.string(),
    args: v.unknown(),
  }),
  v.object({ kind: v.literal('withdraw'), call: v.number() }),
  v.object({ kind: v.literal('sync') }),
  v.object({ kind: v.literal('data'), stream, bytes: v.instance(Uint8Array) }),
  v.object({ kind: v.literal('grant'), stream, bytes }),
  v.object({ kind: v.literal('end'), stream }),
])

/**
 * A page at a transport's other end. `transport` returns whether it has room for more; `left` is called at the end;
 * `isInFront`: whether its window is before the user, where that is known here. `by`: the agent or script at it.
 */
export function createPageLink(
  store: Store,
  dispatch: Dispatch,
  transport: (message: MainMessage) => boolean,
  left: (page: Streams) => void = () => undefined,
  isInFront?: () => boolean,
  by: () => Spender | undefined = () => undefined,
): PageLink {
  let closed = false
  /** Answers that arrive after the page has left are dropped. */
  const send = (message: MainMessage) => !closed && transport(message)
  const streams = createStreams(send)
  /** The commands without an answer yet, by their number. */
  const unanswered = new Map<number, AbortController>()
  /** `behind`: the transport was full, so patches are skipped until it has room for the whole State. */
  let sentState: 'nothing' | 'all' | 'behind' = 'nothing'
  const stopPatches = store.onPatch((patches, sequence) => {
    if (sentState === 'all' && !maySee()) whole()
    else if (sentState === 'all' && !send({ kind: 'patch', sequence, patches })) sentState = 'behind'
  })

  /** An agent or a script that the user has switched off sees nothing. */
  function maySee(): boolean {
    return formOf(store.get().settings.spenders, by())?.may !== 'nothing'
  }

  function whole(): void {
    if (!maySee()) {
      sentState = 'nothing'
      const problem = nothingPermitted(spenderParts(by())?.name ?? '')
      send({ kind: 'refusal', call: 0, problem })
      return
    }
    sentState = 'all'
    send({ kind: 'state', sequence: store.sequence(), state: store.get() })
  }

  async function answer(call: number, name: string, args: unknown): Promise<void> {
    const aborter = new AbortController()
    unanswered.set(call, aborter)
    try {
      const caller = { streams, withdrawn: aborter.signal, isInFront, by: by() }
      send({ kind: 'answer', call, answer: await dispatch(name, args, caller) })
    } catch (error) {
      send({ kind: 'refusal', call, problem: problemOf(error) })
    } finally {
      unanswered.delete(call)
    }
  }

  return {
    receive(message) {
      const checked = v.safeParse(PageMessageShape, message)
      if (!checked.success) return
      const { output } = checked
      if (output.kind === 'command') void answer(output.call, output.name, output.args)
      else if (output.kind === 'withdraw') unanswered.get(output.call)?.abort()
      else if (output.kind === 'sync') whole()
      else streams.receive(output)
    },
    drained() {
      if (sentState === 'behind') whole()
      streams.drained()
    },
    isBusy: () => streams.flows() || unanswered.size > 0,
    close() {
      closed = true
      stopPatches()
      streams.close()
      for (const aborter of unanswered.values()) aborter.abort()
      left(streams)
    },
  }
}

/** Failures recorded per hour; more are dropped. */
const mostPerHour = 10
const hour = 3_600_000

/** Records a failure of the page, in Activity for the user and in the log for maintainers. */
export type NotePageFailure = (text: string, detail: string) => void

export function pageFailures(activity: Activity, clock: Clock, log: Log): NotePageFailure {
  let noted: number[] = []
  return (text, detail) => {
    const now = clock.monotonic()
    noted = noted.filter(at => now - at < hour)
    if (noted.length >= mostPerHour) return
    noted.push(now)
    log.line(`${text}: ${detail}`)
    activity.add({ kind: 'error', text, detail: log.mask(detail).slice(0, 300) })
  }
}
