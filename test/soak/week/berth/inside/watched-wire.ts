import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type WireAnswer, type WireRequest, wire } from '../../../../../electron/service/http/wire.ts'
import { type Creations, creates } from './creations.ts'
import type { Deaths } from './deaths.ts'
import type { Stillness } from './stillness.ts'

/** Tracks every request of this process until its whole answer has arrived, and may die before and after it. */
export function watchWire(stillness: Stillness, deaths: Deaths, creations: Creations): void {
  const { send } = wire
  async function whole(request: WireRequest): Promise<WireAnswer> {
    const { method, url, body } = request
    const leaving = { method, path: new URL(url).pathname, body }
    const answered = creations.leaves(leaving)
    try {
      deaths.comes('request')
      if (creates(leaving)) deaths.comes('creating')
      const answer = await send(request)
      const content = await buffer(answer.body)
      deaths.comes('answer')
      if (creates(leaving)) deaths.comes('created')
      answered({ status: answer.status, body: content })
      return { ...answer, body: Readable.from(content.length === 0 ? [] : [content]) }
    } catch (error) {
      answered()
      throw error
    }
  }
  wire.send = request => stillness.request(`${request.method} ${request.url}`, whole(request))
}
