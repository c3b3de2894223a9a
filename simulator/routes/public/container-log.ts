import { refusal } from '#simulator/errors.ts'
import type { ApiRequest, Routes } from '#simulator/http/route.ts'
import type { Instance } from '#simulator/world/instances/instance.ts'
import type { World } from '#simulator/world/world.ts'

/** The log of an instance's container: requested here, fetched from another origin. */
export const containerLogRoutes: Routes = {
  'PUT /instances/request_logs/:id/': { permission: 'instance_read', answer: requestLog },
}

/** Lines unless the request says how many. */
const TAIL = 1000

/** World milliseconds between two lines of a running container. */
const STEP = 30_000

async function requestLog({ world, body, id, profile, results }: ApiRequest) {
  const wanted = id('id')
  const instance = world.instances.list().find(known => known.id === wanted)
  if (!instance) throw refusal(404, 'invalid_id', 'Invalid instance id.')
  const fields = body()
  const filter = fields.optionalString('filter') ?? ''
  const tail = fields.optionalNumber('tail') ?? TAIL
  const lines = fields.has('daemon_logs') ? daemonLog(instance) : containerLog(world, instance)
  const text = lines.filter(line => line.includes(filter)).slice(-tail)
  const name = `/instance_logs/${instance.apiKey.slice(0, 24)}${Math.floor(world.clock.now())}.log`
  const resultUrl = await results.publish(name, text.map(line => `${line}\n`).join(''), profile.logs)
  return { success: true, result_url: resultUrl, msg: 'Log file requested; it is there in a few seconds.' }
}

function daemonLog({ launch, message }: Instance): string[] {
  return [`docker pull ${launch.image}`, `docker create ${launch.image}`, message]
}

/** The coloured output of a training. */
function containerLog(world: World, instance: Instance): string[] {
  const at = (time: number) => new Date(time).toISOString()
  const begun = instance.created
  const lines = [`${at(begun)} \u001b[32mStarting\u001b[0m ${instance.launch.image}`]
  if (instance.launch.onstart !== '') lines.push(`${at(begun)} onstart: ${instance.launch.onstart}`)
  if (instance.status !== 'running') return [...lines, `${at(instance.since)} ${instance.message}`]
  const steps = Math.min(TAIL, Math.floor((world.clock.now() - instance.since) / STEP))
  for (let step = 1; step <= steps; step++) {
    const loss = (2.5 / (1 + step / 20)).toFixed(4)
    lines.push(`${at(instance.since + step * STEP)} step ${step * 100} loss ${loss}`)
  }
  return lines
}
