import { type Creations, creates } from './creations.ts'
import type { Deaths } from './deaths.ts'
import type { Stillness } from './stillness.ts'

/** Has every request of this process watched until its whole answer is here; it may die before and after it. */
export async function watchFetch(stillness: Stillness, deaths: Deaths, creations: Creations): Promise<void> {
  const ask = globalThis.fetch
  const patient = await patientDispatcher()
  async function whole(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    const path = new URL(input instanceof Request ? input.url : input).pathname
    const body = typeof init?.body === 'string' ? init.body : undefined
    const request = { method: init?.method ?? 'GET', path, body }
    const answered = creations.leaves(request)
    try {
      deaths.comes('request')
      if (creates(request)) deaths.comes('creating')
      const answer = await ask(input, { ...init, ...patient })
      const content = await answer.arrayBuffer()
      deaths.comes('answer')
      if (creates(request)) deaths.comes('created')
      const { status, headers } = answer
      answered({ status, body: content })
      return new Response(content.byteLength === 0 ? null : content, { status, headers })
    } catch (error) {
      answered()
      throw error
    }
  }
  globalThis.fetch = (input, init) =>
    stillness.request(`${init?.method ?? 'GET'} ${String(input)}`, whole(input, init))
}

/** One without time limits of its own: Berth has its own, and each would be one more moment to stop at. */
async function patientDispatcher(): Promise<object> {
  // The dispatcher that fetch uses is there once it was called.
  await fetch('data:,')
  const own: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (typeof own !== 'object' || own === null) throw new Error('fetch has no dispatcher')
  const limits = {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 0 },
    keepAliveTimeoutThreshold: -600_000,
  }
  return { dispatcher: Reflect.construct(own.constructor, [limits]) }
}
