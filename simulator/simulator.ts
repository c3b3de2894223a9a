import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import { type Controls, createControls, followProfile } from './controls.ts'
import { Deployment, interfaceProfile, type Profile } from './deployment.ts'
import { Doors } from './doors.ts'
import { createApp } from './http/app.ts'
import { Faults, type FaultTime, realTime } from './http/faults.ts'
import { type LimitClock, realClock } from './http/limits.ts'
import { RequestLog } from './http/request-log.ts'
import { Results } from './results.ts'
import { FLAKY } from './world/instances/plan.ts'
import { World } from './world/world.ts'

export interface SimulatorOptions {
  /** Port on 127.0.0.1; 0 (the default) takes a free one. */
  port?: number
  /** The seed that determines the whole world; default 7. */
  seed?: number
  /** World seconds per real second; default 60. At 0 the clock only moves when it is advanced. */
  speed?: number
  /** When world time starts, milliseconds since 1970; default the real time. */
  start?: number
  /** Size of the catalogue; default 500. */
  offers?: number
  /** The deployment to simulate, and its variant; default the interface itself. */
  deployment?: Profile
  /** Rate limits; default true. */
  limits?: boolean
  /** The clock for rate limits, in milliseconds; default this machine's own. */
  limitClock?: LimitClock
  /** No flaky hosts and no rivals; default false. */
  calm?: boolean
  /** The share of machines that are flaky, 0 to 1; default 0.12. */
  flaky?: number
  /** Whether /sim/ is served; default true, false inside the product. */
  controlPlane?: boolean
  /** The folder for the instances' files; default a new temporary folder. */
  scratch?: string
  /** How delayed and hanging answers wait; default in real time. */
  faultTime?: FaultTime
}

/** A running service with its one account. */
export interface Simulator {
  /** Such as http://127.0.0.1:40123. */
  baseUrl: string
  apiKey: string
  userId: number
  /** The control plane's functions, in process. */
  controls: Controls
  /** Stops everything and removes its files; a second call does nothing more. */
  close(): Promise<void>
}

/** How often, in real milliseconds, the world catches up with its clock when nobody asks. */
const HEARTBEAT = 250

/** Starts the service on loopback. Rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, seed = 7, speed = 60, offers = 500, limits = true, calm = false } = options
  const world = new World({ seed, speed, start: options.start, offers, calm, flaky: options.flaky ?? FLAKY })
  const doors = new Doors(world, options.scratch)
  const deployment = new Deployment(options.deployment ?? interfaceProfile)
  const results = new Results()
  const parts = { world, deployment, results, doors, faults: new Faults(), log: new RequestLog() }
  followProfile(world, deployment.profile)
  const controls = createControls(parts)
  const app = createApp(parts, controls, {
    limitClock: limits ? (options.limitClock ?? realClock) : null,
    controlPlane: options.controlPlane ?? true,
    faultTime: options.faultTime ?? realTime,
  })
  const server = await listen(app.fetch, port)
  const heartbeat = setInterval(() => {
    world.catchUp()
    void doors.follow()
  }, HEARTBEAT)
  heartbeat.unref()
  let closing: Promise<void> | null = null
  const close = async () => {
    clearInterval(heartbeat)
    await stop(server)
    await results.close()
    await doors.close()
  }
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: world.account.apiKey,
    userId: world.account.id,
    controls,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

type Fetch = Parameters<typeof serve>[0]['fetch']

async function listen(fetch: Fetch, port: number): Promise<ServerType> {
  return await new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: '127.0.0.1', port }, () => {
      server.off('error', reject)
      resolve(server)
    })
    server.once('error', reject)
  })
}

async function stop(server: ServerType): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  if ('closeAllConnections' in server) server.closeAllConnections()
  await closed
}
