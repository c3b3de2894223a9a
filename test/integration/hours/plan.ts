import { Draw } from '#simulator/world/draw.ts'

/** How long a round is, and how large its state. */
export interface Size {
  /** Megabytes. */
  state: number
  /** Seconds after the first step on a machine within which it ends. */
  within: number
  /** Whether PyTorch trains, or a stand-in. */
  torch: boolean
}

/** One machine's end. Seconds. */
export interface End {
  /** After its first step. */
  after: number
  /** Or only once the job writes, or the machine stores. */
  during: 'any' | 'writing' | 'storing'
  kind: 'outbid' | 'crash' | 'offline'
  /** What Berth does from `before` to `later` around it. */
  berth: 'awake' | 'asleep' | 'killed'
  before: number
  later: number
  /** What the store does during that time. */
  store: 'there' | 'gone' | 'hangs'
}

export interface Night {
  seed: number
  /** Whether checkpoints are written in place, or renamed. */
  saves: 'place' | 'rename'
  /** The instances from which the service copies. */
  copies: 'running' | 'paused'
  ends: readonly End[]
}

/** What happens in a round, by its seed. */
export function drawNight(seed: number, { within }: Size): Night {
  const draw = new Draw(seed, 'hours')
  const end = (): End => ({
    after: draw.between(12, within),
    during: draw.pick(['any', 'any', 'writing', 'storing']),
    kind: draw.pick(['outbid', 'outbid', 'crash', 'offline']),
    berth: draw.pick(['awake', 'awake', 'asleep', 'killed']),
    before: draw.between(0.5, 5),
    later: draw.between(1, within / 4),
    store: draw.pick(['there', 'there', 'there', 'there', 'gone', 'hangs']),
  })
  return {
    seed,
    saves: draw.pick(['place', 'rename']),
    copies: draw.pick(['running', 'running', 'paused']),
    ends: draw.chance(0.3) ? [end(), end()] : [end()],
  }
}
