import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { Draw } from '../../simulator/world/draw.ts'
import { buildKillable, type Killable } from '../integration/core/killable.ts'
import { startSshd } from '../integration/ssh/sshd.ts'
import { ownPublicKey } from '../own-public-key.ts'

/** World seconds per second. */
const speed = 600
/** Parallel projects. */
const places = 4
const week = 7 * 86_400

/** The agreed price per hour and total of a project's run, in micro-dollars. */
interface Agreed {
  name: string
  price: number
  most: number
}

/**
 * Runs projects for a week, or BERTH_DAYS, from BERTH_SEED, on flaky hosts with rivals, over Debian's sshd, and kills
 * Berth at random. None may cost more than agreed, beyond the cost of its instances between two polls.
 */
export async function soakCosts(): Promise<string> {
  const seed = Number(process.env['BERTH_SEED'] ?? Math.floor(Math.random() * 1_000_000))
  const seconds = (Number(process.env['BERTH_DAYS'] ?? 7) / 7) * (week / speed)
  const draw = new Draw(seed, 'costs')
  const sim = await startSimulator({ seed, speed, offers: 300, limits: false, flaky: 0.12 })
  const home = mkdtempSync(join(tmpdir(), 'berth-costs-'))
  for (const name of ['queue', 'begun']) mkdirSync(join(home, name))
  for (let place = 0; place < places; place++) {
    mkdirSync(join(home, 'places', String(place)), { recursive: true })
    writeFileSync(join(home, 'places', String(place), 'train.py'), 'print(1)\n')
  }
  for (let number = 0; number < seconds; number++) {
    const name = `run-${String(number).padStart(4, '0')}`
    writeFileSync(join(home, 'queue', name), specOf(name, draw))
  }
  const sshd = await startSshd()
  const labels = new Map<number, string>()
  const processes = await buildKillable()
  const watching = new AbortController()
  const watched = joinAll(sim, sshd, labels, home, watching.signal)
  const agreed = new Map<string, Agreed>()
  let kills = 0
  try {
    const end = performance.now() + seconds * 1000
    while (performance.now() < end) {
      const left = end - performance.now()
      const life = Math.min(left, draw.between(5, 90) * 1000)
      await live(processes, { sim, home, agreed }, life)
      kills++
    }
    // Running projects go on to their end, and none is started.
    rmSync(join(home, 'queue'), { recursive: true })
    mkdirSync(join(home, 'queue'))
    await finish(processes, sim, home, agreed)
  } finally {
    watching.abort()
    await watched
    await processes.remove()
    await sshd.close()
  }
  const { broken, figures } = judge(sim, labels, agreed)
  await sim.close()
  const begun = readdirSync(join(home, 'begun')).length
  rmSync(home, { recursive: true, force: true, maxRetries: 20 })
  const said = `seed ${seed}: ${begun} runs begun, ${kills} kills; ${figures}`
  if (broken.length > 0) throw new Error(`${broken.join('\n')}\n${said}`)
  return said
}

/** A project that mostly reaches its limit of hours or dollars, and sometimes ends before. */
function specOf(name: string, draw: Draw): string {
  const stop = draw.chance(0.5) ? `hours: ${draw.integer(1, 6)}` : `dollars: ${draw.integer(1, 20)}`
  const interruptible = draw.chance(0.5)
  return `name: ${name}
machine: { vram: 40, count: ${draw.pick([1, 1, 2])}${interruptible ? ', interruptible: true' : ''} }
${interruptible ? `outbid: { elsewhere: ${draw.integer(0, 3)} }\ncheckpoint: 1h\n` : ''}results: [steps]
stop: { ${stop} }
run: |
  echo begun >> steps
  sleep ${draw.chance(0.6) ? draw.integer(1, 30) : 300}
`
}

interface Place {
  sim: Simulator
  home: string
  agreed: Map<string, Agreed>
}

/** Runs Berth for `milliseconds`, then kills it. */
async function live(processes: Killable, place: Place, milliseconds: number): Promise<void> {
  const child = begin(processes, place)
  await wait(milliseconds)
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function begin(processes: Killable, { sim, home, agreed }: Place) {
  const child = processes.start(join(home, 'berth'), sim.baseUrl, sim.apiKey, 'projects', home)
  if (child.stdout)
    createInterface(child.stdout).on('line', line => {
      if (!line.startsWith('{')) return
      const one = JSON.parse(line) as Agreed
      agreed.set(one.name, one)
    })
  return child
}

/** Runs Berth until nothing is rented. */
async function finish(
  processes: Killable,
  sim: Simulator,
  home: string,
  agreed: Map<string, Agreed>,
): Promise<void> {
  const child = begin(processes, { sim, home, agreed })
  const until = performance.now() + 300_000
  while (sim.controls.instances().length > 0 && performance.now() < until) await wait(500)
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Points each new instance to the sshd and records its label. */
async function joinAll(
  sim: Simulator,
  sshd: Awaited<ReturnType<typeof startSshd>>,
  labels: Map<number, string>,
  home: string,
  signal: AbortSignal,
): Promise<void> {
  ownPublicKey(join(home, 'berth', 'berth'))
    .then(sshd.authorize)
    .catch(() => undefined)
  while (!signal.aborted) {
    for (const { id, label } of sim.controls.instances()) {
      if (labels.has(Number(id))) continue
      // Berth's own mark follows the name.
      labels.set(Number(id), String(label).split(' ')[0] ?? '')
      sim.controls.setInstance(Number(id), { ssh: { host: sshd.host, port: sshd.port } })
    }
    await wait(50)
  }
}

function judge(sim: Simulator, labels: ReadonlyMap<number, string>, agreed: ReadonlyMap<string, Agreed>) {
  const broken = sim.controls.instances().map(({ id }) => `${id} is left`)
  const costs = new Map<string, number>()
  for (const { instance_id: id, micro_dollars: cost } of sim.controls.ledger().instances) {
    const label = labels.get(id)
    if (label === undefined) broken.push(`${id} was never seen`)
    else costs.set(label, (costs.get(label) ?? 0) + cost)
  }
  const between = longestBetween(sim)
  let dearest = 0
  let reached = 0
  for (const [name, cost] of costs) {
    const { most, price } = agreed.get(name) ?? { most: 0, price: 0 }
    const allowed = most + (price * 1.1 * between) / 3600
    dearest = Math.max(dearest, cost / most)
    if (cost > most * 0.5) reached++
    if (cost > allowed)
      broken.push(
        `${name} cost ${cost} micro-dollars, and at most ${most} were agreed to, at ${price} an hour`,
      )
  }
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0)
  return {
    broken,
    figures: `${costs.size} rented ${labels.size} machines for $${(total / 1e6).toFixed(2)}; the dearest cost ${dearest.toFixed(2)} of what was agreed to, ${reached} more than half of it; ${between.toFixed(0)} world seconds between two polls at the most`,
  }
}

/** The longest time between two polls, in world seconds, including kills. */
function longestBetween(sim: Simulator): number {
  const polls = sim.controls
    .requests()
    .filter(({ method, path }) => method === 'GET' && /^\/api\/v[01]\/instances\/$/.test(path))
    .map(({ at }) => at)
  return Math.max(...polls.slice(1).map((at, index) => at - (polls[index] ?? at)))
}
