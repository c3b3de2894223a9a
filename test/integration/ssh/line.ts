import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A line to a server on this machine, whose bytes are counted. */
export interface Line {
  host: string
  port: number
  /** In both directions so far. */
  bytes(): number
  /** Cuts it, or lets it go on. */
  setOpen(isOpen: boolean): void
  close(): void
}

/** How long each byte is under way, in milliseconds, and how many bytes pass in one. */
export interface Shape {
  delay: number
  rate: number
}

/** Lets bytes through at its rate, each after its delay, in their order. */
class Shaped extends Transform {
  /** When the line is free again. */
  #free = 0
  #underWay: { chunk: Buffer; at: number }[] = []
  #arrived: (() => void) | undefined
  readonly #shape: Shape

  constructor(shape: Shape) {
    super({ highWaterMark: 65_536 })
    this.#shape = shape
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const now = performance.now()
    this.#free = Math.max(this.#free, now) + chunk.length / this.#shape.rate
    this.#underWay.push({ chunk, at: this.#free + this.#shape.delay })
    if (this.#underWay.length === 1) this.#deliver()
    setTimeout(done, this.#free - now)
  }

  override _flush(done: () => void): void {
    if (this.#underWay.length === 0) done()
    else this.#arrived = done
  }

  #deliver(): void {
    const [first] = this.#underWay
    if (!first) return
    const late = performance.now() - first.at
    if (late < 0) {
      setTimeout(() => this.#deliver(), -late)
      return
    }
    this.#underWay.shift()
    this.push(first.chunk)
    if (this.#underWay.length === 0) this.#arrived?.()
    this.#deliver()
  }
}

/** Opens a line, without a shape as fast as this machine. */
export async function openLine(to: { host: string; port: number }, shape?: Shape): Promise<Line> {
  let bytes = 0
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer(from => {
    if (isCut) {
      from.destroy()
      return
    }
    const onward = connect(to.port, to.host)
    for (const [one, other] of [
      [from, onward],
      [onward, from],
    ] as const) {
      open.add(one)
      one.on('data', chunk => {
        bytes += chunk.length
      })
      one.on('error', () => undefined)
      one.on('close', () => {
        open.delete(one)
        setTimeout(() => other.destroySoon(), shape ? shape.delay + 100 : 0)
      })
      if (shape) one.pipe(new Shaped(shape)).pipe(other)
      else one.pipe(other)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    host: '127.0.0.1',
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    bytes: () => bytes,
    setOpen(isOpen) {
      isCut = !isOpen
      if (isCut) cut()
    },
    close() {
      server.close()
      cut()
    },
  }
}
