import { rentalOf } from '../../../../../electron/core/instances/mark.ts'

/** A request that is sent. */
export interface Leaving {
  method: string
  path: string
  body: string | undefined
}

/**
 * Reports every request that creates an instance, with its mark and whether this process has polled the account since
 * the last such request with that mark ended, or since its own start.
 */
export class Creations {
  readonly #hear: (mark: string, polled: boolean) => void
  /** Counts events: a request is sent, or a creation ends. */
  #moment = 0
  /** The moment at which the latest successful poll was sent. */
  #seen = 0
  readonly #over = new Map<string, number>()

  constructor(hear: (mark: string, polled: boolean) => void) {
    this.#hear = hear
  }

  /** Call the result with the whole answer, or without one if the request failed. */
  leaves(request: Leaving): (answer?: { status: number; body: Uint8Array }) => void {
    this.#moment += 1
    const moment = this.#moment
    if (isPoll(request))
      return answer => {
        if (answer?.status === 200 && hasInstances(answer.body)) this.#seen = Math.max(this.#seen, moment)
      }
    const mark = markOf(request)
    if (mark === undefined) return () => undefined
    this.#hear(mark, this.#seen > (this.#over.get(mark) ?? 0))
    return answer => {
      // A refusal means that nothing was created, so it changes nothing here.
      if (answer && answer.status >= 400 && answer.status < 500) return
      this.#moment += 1
      this.#over.set(mark, this.#moment)
    }
  }
}

export function creates({ method, path }: Leaving): boolean {
  return method === 'PUT' && path.startsWith('/api/v0/asks/')
}

function isPoll({ method, path }: Leaving): boolean {
  return method === 'GET' && /^\/api\/v[01]\/instances\/$/.test(path)
}

function markOf(request: Leaving): string | undefined {
  if (!creates(request)) return undefined
  const { label, env } = JSON.parse(request.body ?? '{}') as { label?: string; env?: Record<string, string> }
  return rentalOf(label, Object.entries(env ?? {}))
}

function hasInstances(body: Uint8Array): boolean {
  try {
    const { instances } = JSON.parse(new TextDecoder().decode(body)) as { instances?: unknown }
    return Array.isArray(instances)
  } catch {
    return false
  }
}
